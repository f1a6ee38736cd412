package template

import (
	"strings"
)

// directive reads the rest of a tag and what it encloses.
func (p *parser) directive(at pos, name string) (node, error) {
	switch name {
	case "if":
		return p.condition(at)
	case "list", "foreach":
		return p.loop(at, name)
	case "items":
		return p.items(at)
	case "switch":
		return p.choice(at)
	case "assign", "global", "local":
		return p.assignment(at, name)
	case "macro", "function":
		// A definition leaves no node: it holds everywhere, wherever it stands.
		return nil, p.macro(at, name)
	case "nested":
		args, err := p.values()
		return &nestedBody{at, args}, err
	case "return":
		x, err := p.maybe()
		return &signal{at: at, kind: name, x: x}, err
	case "break", "continue":
		return p.leave(at, name)
	case "stop":
		x, err := p.maybe()
		return &stop{at, x}, err
	case "noparse":
		return p.verbatim(at)
	case "escape":
		return p.escaped(at)
	case "noescape":
		return p.bare()
	case "autoesc", "noautoesc", "outputformat":
		return p.formatted(name)
	case "setting":
		return p.setting(at)
	case "ftl":
		return nil, p.header(at)
	}
	if directives[name] {
		return nil, at.fail("<#%s> is not expected here", name)
	}
	return nil, at.fail("<#%s> is not supported%s", name, perhaps(name, directives))
}

// directives are the names of those there are, for those who mistype them.
var directives = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields("if elseif else list items sep break continue foreach switch case default assign global local macro function nested return stop noparse escape noescape autoesc noautoesc outputformat setting ftl") {
		all[name] = true
	}
	return all
}()

// leave reads <#break>, which ends a loop or a choice, or <#continue>.
func (p *parser) leave(at pos, name string) (node, error) {
	if p.loops == 0 && (name == "continue" || p.choices == 0) {
		return nil, at.fail("<#%s> is outside a matching directive", name)
	}
	return &signal{at: at, kind: name}, p.over()
}

// maybe reads the expression of a tag that may have none.
func (p *parser) maybe() (expression, error) {
	if p.tok.kind == end {
		return nil, nil
	}
	return p.value()
}

// bare reads <#noescape>.
// The escapes of the parser are those of the place that it reads, so they are put back at the closing tag.
func (p *parser) bare() (node, error) {
	kept := p.escape
	p.escape = nil
	body, err := p.block("/noescape")
	p.escape = kept
	return group(body), err
}

// condition reads <#if> up to </#if>. Behind <#else> no other branch may follow.
func (p *parser) condition(at pos) (node, error) {
	n := &condition{at: at}
	for stop := "if"; ; {
		var b branch
		var err error
		switch stop {
		case "else":
			err = p.over()
		default:
			b.when, err = p.value()
		}
		if err != nil {
			return nil, err
		}
		stops := []string{"/if", "elseif", "else"}
		if stop == "else" {
			stops = stops[:1]
		}
		if b.body, stop, err = p.nodes(stops...); err != nil {
			return nil, err
		}
		n.branches = append(n.branches, b)
		if stop == "/if" {
			return n, p.over()
		}
	}
}

// loop reads <#list xs as x>, <#list hash as k, v>, <#list xs> with <#items>, and <#foreach x in xs>.
func (p *parser) loop(at pos, name string) (node, error) {
	n := &list{at: at}
	var err error
	if name == "foreach" {
		if n.names, err = p.names("in"); err != nil {
			return nil, err
		}
		n.of, err = p.expression()
	} else if n.of, err = p.expression(); err == nil && p.tok.kind == word && p.tok.text == "as" {
		if err = p.next(); err == nil {
			n.names, err = p.names("")
		}
	}
	if err == nil {
		err = p.over()
	}
	if err != nil {
		return nil, err
	}
	around := &p.loops
	if len(n.names) == 0 { // there is no item to go on with before <#items>
		around = &p.choices
	}
	*around++
	var stop string
	n.body, stop, err = p.nodes("/"+name, "else")
	*around--
	if err == nil && stop == "else" {
		if err = p.over(); err == nil {
			n.otherwise, _, err = p.nodes("/" + name)
		}
	}
	if err != nil {
		return nil, err
	}
	return n, p.over()
}

// names reads names of variables with commas between, up to a word, or the end of the tag.
func (p *parser) names(upTo string) ([]string, error) {
	var out []string
	for {
		if p.tok.kind != word {
			return nil, p.here().fail("expected the name of a variable, not %s", p.shown())
		}
		out = append(out, p.tok.text)
		if err := p.next(); err != nil {
			return nil, err
		}
		if ok, err := p.accept(","); err != nil {
			return nil, err
			// Two at most: the key and the value of an entry.
		} else if ok && len(out) < 2 {
			continue
		}
		if upTo == "" {
			return out, nil
		}
		if p.tok.kind != word || p.tok.text != upTo {
			return nil, p.here().fail("expected %s, not %s", upTo, p.shown())
		}
		return out, p.next()
	}
}

func (p *parser) items(at pos) (node, error) {
	if p.tok.kind != word || p.tok.text != "as" {
		return nil, p.here().fail("expected as, not %s", p.shown())
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	names, err := p.names("")
	if err != nil {
		return nil, err
	}
	p.loops++
	body, err := p.block("/items")
	p.loops--
	return &itemsOf{at, names, body}, err
}

// separator reads <#sep>, which ends itself or with what it is in.
func (p *parser) separator(at pos, stops []string) (node, string, error) {
	if err := p.over(); err != nil {
		return nil, "", err
	}
	body, stop, err := p.nodes(append([]string{"/sep"}, stops...)...)
	if err == nil && stop == "/sep" {
		stop, err = "", p.over()
	}
	return &between{at, body}, stop, err
}

// choice reads <#switch>. Only white space may stand before the first <#case>: anything else would never be
// rendered.
func (p *parser) choice(at pos) (node, error) {
	n := &choice{at: at, otherwise: -1}
	var err error
	if n.of, err = p.value(); err != nil {
		return nil, err
	}
	stops := []string{"/switch", "case", "default"}
	before, stop, err := p.nodes(stops...)
	if err != nil {
		return nil, err
	}
	for _, b := range before {
		if t, ok := b.(*text); !ok || strings.TrimSpace(t.s) != "" {
			return nil, at.fail("expected <#case> after <#switch>")
		}
	}
	p.choices++
	defer func() { p.choices-- }()
	for stop != "/switch" {
		var b branch
		if stop == "default" {
			if n.otherwise >= 0 {
				return nil, p.here().fail("duplicate <#default>")
			}
			n.otherwise, err = len(n.branches), p.over()
		} else {
			b.when, err = p.value()
		}
		if err != nil {
			return nil, err
		}
		if b.body, stop, err = p.nodes(stops...); err != nil {
			return nil, err
		}
		n.branches = append(n.branches, b)
	}
	return n, p.over()
}

// assignment reads <#assign a=1 b+=2> and <#assign a>…</#assign>.
func (p *parser) assignment(at pos, where string) (node, error) {
	n := &assignment{at: at, local: where == "local", format: p.format}
	for p.tok.kind != end || len(n.names) == 0 {
		if ok, err := p.accept(","); err != nil {
			return nil, err
		} else if ok {
			continue
		}
		if p.tok.kind != word && p.tok.kind != quoted {
			return nil, p.here().fail("expected the name of a variable, not %s", p.shown())
		}
		name := p.tok.text
		if err := p.next(); err != nil {
			return nil, err
		}
		n.names = append(n.names, name)
		// A name alone captures what the tag encloses.
		if p.tok.kind == end && len(n.names) == 1 {
			body, err := p.block("/" + where)
			n.capture, n.captures = body, true
			return n, err
		}
		x, err := p.assigned(name)
		if err != nil {
			return nil, err
		}
		n.values = append(n.values, x)
	}
	return n, nil
}

// assigned reads = and a value, or how the value changes.
func (p *parser) assigned(name string) (expression, error) {
	at, op := p.here(), p.tok.text
	if p.tok.kind != mark {
		return nil, at.fail("expected =, not %s", p.shown())
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	switch op {
	case "=":
		return p.expression()
	case "++", "--":
		p.t.add(name)
		return &binary{at, op[:1], &variable{at, name}, &constant{at, int64(1)}}, nil
	case "+=", "-=", "*=", "/=", "%=":
		p.t.add(name)
		x, err := p.expression()
		return &binary{at, op[:1], &variable{at, name}, x}, err
	}
	return nil, at.fail("expected =, not %s", op)
}

// values are expressions with commas or spaces between, up to the end of the tag.
func (p *parser) values() ([]expression, error) {
	var out []expression
	for p.tok.kind != end {
		if ok, err := p.accept(","); err != nil {
			return nil, err
		} else if ok {
			continue
		}
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// verbatim reads <#noparse>. Nothing in it is looked at: the closing tag is the next occurrence of its text.
func (p *parser) verbatim(at pos) (node, error) {
	if err := p.over(); err != nil {
		return nil, err
	}
	const closing = "</#noparse>"
	n := strings.Index(p.text[p.pos:], closing)
	if n < 0 {
		return nil, at.fail("expected %s", closing)
	}
	t := &text{at: at, s: p.text[p.pos : p.pos+n]}
	p.pos += n + len(closing)
	p.pieces = append(p.pieces, piece{text: t}, piece{tag: true})
	return t, nil
}

// escaped reads <#escape x as …>.
func (p *parser) escaped(_ pos) (node, error) {
	names, err := p.names("as")
	if err != nil {
		return nil, err
	}
	x, err := p.value()
	if err != nil {
		return nil, err
	}
	kept := p.escape
	// A copy: escapes that follow each other must not write into the same array.
	p.escape = append(append([]escaping{}, kept...), escaping{names[0], x})
	body, err := p.block("/escape")
	p.escape = kept
	return group(body), err
}

// formats are what values are made safe for, by the names of what templates make.
var formats = map[string]string{"html": "html", "xhtml": "html", "xml": "xml", "plaintext": "", "undefined": "", "json": "", "javascript": "", "css": ""}

// formatted reads what changes the escaping of values within a block: <#outputformat>, <#autoesc> and
// <#noautoesc>.
func (p *parser) formatted(name string) (node, error) {
	kept := p.format
	switch name {
	case "noautoesc":
		p.format = ""
	// <#autoesc> goes back to the format of the whole template, whatever is around it.
	case "autoesc":
		p.format = p.declared
	default:
		x, err := p.value()
		if err != nil {
			return nil, err
		}
		format, err := p.formatOf(x)
		if err != nil {
			return nil, err
		}
		p.format = format
	}
	body, err := p.block("/" + name)
	p.format = kept
	return group(body), err
}

func (p *parser) formatOf(x expression) (string, error) {
	c, ok := x.(*constant)
	if ok {
		name, _ := c.v.(string)
		if format, ok := formats[strings.ToLower(name)]; ok {
			return format, nil
		}
	}
	return "", x.position().fail("expected the name of a format: HTML, XHTML, XML or plainText")
}

// header reads <#ftl …>, which must be the first tag of a template.
func (p *parser) header(at pos) error {
	if len(p.pieces) > 2 || len(p.pieces) == 2 && (p.pieces[0].text == nil || strings.TrimSpace(p.pieces[0].text.s) != "") {
		return at.fail("<#ftl> must come first")
	}
	escapes := true
	for p.tok.kind == word {
		name := p.tok.text
		c, err := p.headerValue()
		if err != nil {
			return err
		}
		switch name {
		case "output_format":
			if p.declared, err = p.formatOf(c); err != nil {
				return err
			}
		case "auto_esc":
			escapes = c.v == true
		case "strip_whitespace":
			p.strips = c.v == true
		case "encoding":
		case "strict_syntax", "strip_text":
			if c.v != (name == "strict_syntax") {
				return c.position().fail("%s=%v is not supported", name, c.v)
			}
		default:
			return at.fail("<#ftl %s> is not supported", name)
		}
	}
	if p.format = ""; escapes { // a template of HTML escapes before its header is read
		p.format = p.declared
	}
	return p.over()
}

// headerValue reads the =value behind the name of a setting of <#ftl>.
func (p *parser) headerValue() (*constant, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	if err := p.expect("="); err != nil {
		return nil, err
	}
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	c, ok := x.(*constant)
	if !ok {
		return nil, x.position().fail("expected a constant value")
	}
	return c, nil
}

// setting reads <#setting name=value>. Settings that cannot be honoured are errors and not ignored, so that
// no template looks right by accident.
func (p *parser) setting(at pos) (node, error) {
	if p.tok.kind != word {
		return nil, p.here().fail("expected the name of a setting, not %s", p.shown())
	}
	n := &setting{at: at, name: p.tok.text}
	if !settings[n.name] {
		return nil, p.here().fail("<#setting %s> is not supported%s", n.name, perhaps(n.name, settings))
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	if err := p.expect("="); err != nil {
		return nil, err
	}
	var err error
	n.x, err = p.value()
	return n, err
}

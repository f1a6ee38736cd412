package template

import (
	"strings"

	"catena/engine/expr"
	"catena/storage/fault"
)

// marked reads the templates whose parts are marked with @: @{expression}, @if{…} @else{…} @end{}, and
// @foreach{item : list} @end{"between"}. Their expressions are those of chains.
type marked struct {
	text   string
	t      *Template
	limits Limits
	pos    int
	deep   int
}

func parseMarked(t *Template, text string, l Limits) error {
	m := &marked{text: text, t: t, limits: l}
	body, stop, err := m.nodes(false)
	if err != nil {
		return err
	}
	if stop != nil {
		return stop.at.fail("@%s{} closes nothing here", stop.name)
	}
	t.body = body
	return nil
}

// tagged is a mark: @name{inner}.
type tagged struct {
	at          pos
	name, inner string
}

// nodes reads up to @else or @end, or the end of the text. The depth is bounded as in FTL.
func (m *marked) nodes(within bool) ([]node, *tagged, error) {
	if m.deep++; m.deep > m.limits.Depth {
		return nil, nil, pos(m.pos).exceed("is nested more than %d deep", m.limits.Depth)
	}
	defer func() { m.deep-- }()
	var out []node
	for m.pos < len(m.text) {
		from := m.pos
		n := strings.IndexByte(m.text[from:], '@')
		if n < 0 {
			n = len(m.text) - from
		}
		if n > 0 {
			out = append(out, &text{pos(from), m.text[from : from+n]})
		}
		if m.pos = from + n; m.pos == len(m.text) {
			break
		}
		tag, err := m.tag()
		if err != nil {
			return nil, nil, err
		}
		if tag == nil {
			out = append(out, &text{pos(m.pos), "@"})
			continue
		}
		if tag.name == "else" || tag.name == "end" {
			if !within {
				return nil, tag, nil
			}
			return out, tag, nil
		}
		node, err := m.node(tag)
		if err != nil {
			return nil, nil, err
		}
		if node != nil {
			out = append(out, node)
		}
	}
	if within {
		return nil, nil, pos(m.pos).fail("@end{} is missing at the end of the template")
	}
	return out, nil, nil
}

// tag reads a mark; nil is an @ that is text, written @@ where a mark would follow.
func (m *marked) tag() (*tagged, error) {
	at, rest := pos(m.pos), m.text[m.pos+1:]
	m.pos++
	if strings.HasPrefix(rest, "@") {
		m.pos++
		return nil, nil
	}
	n := 0
	for n < len(rest) && letter(rest[n]) {
		n++
	}
	// An @ that no name and brace follow is text, as in addresses of mail.
	if n == len(rest) || rest[n] != '{' {
		return nil, nil
	}
	end := expr.Closing(rest[n+1:])
	if end < 0 {
		return nil, at.fail("@%s{ is not closed", rest[:n])
	}
	m.pos += n + end + 2
	return &tagged{at, rest[:n], strings.TrimSpace(rest[n+1 : n+1+end])}, nil
}

func (m *marked) node(tag *tagged) (node, error) {
	switch tag.name {
	case "":
		return m.program(tag.at, tag.inner)
	// The content of a comment was passed over with the mark; it may hold anything with balanced braces.
	case "comment":
		return nil, nil
	case "if":
		return m.condition(tag)
	case "foreach":
		return m.each(tag)
	}
	return nil, tag.at.fail("@%s{} is not supported%s", tag.name, perhaps(tag.name, map[string]bool{"if": true, "else": true, "end": true, "foreach": true, "comment": true}))
}

// program compiles an expression. An @{ within it is refused, because its closing brace would be ambiguous.
func (m *marked) program(at pos, text string) (*program, error) {
	p, err := expr.Parse("expr:"+text, false)
	if err == nil && strings.Contains(text, "@{") {
		err = fault.Invalid.Errorf("@{ within an expression")
	}
	if err != nil {
		return nil, at.fail("%v", err)
	}
	m.t.join(p)
	return &program{at, p}, nil
}

func (m *marked) condition(tag *tagged) (node, error) {
	n := &condition{at: tag.at}
	for {
		var b branch
		if tag.name == "if" || tag.inner != "" {
			p, err := m.program(tag.at, tag.inner)
			if err != nil {
				return nil, err
			}
			b.when = p
		}
		var err error
		if b.body, tag, err = m.nodes(true); err != nil {
			return nil, err
		}
		n.branches = append(n.branches, b)
		switch {
		case tag.name == "end":
			return n, nil
		case b.when == nil:
			return nil, tag.at.fail("duplicate @else{}")
		}
	}
}

func (m *marked) each(tag *tagged) (node, error) {
	name, of, ok := strings.Cut(tag.inner, ":")
	if name = strings.TrimSpace(name); !ok || name == "" || strings.Trim(name, nameChars) != "" {
		return nil, tag.at.fail("expected @foreach{item : list}")
	}
	p, err := m.program(tag.at, strings.TrimSpace(of))
	if err != nil {
		return nil, err
	}
	n := &eachOf{at: tag.at, name: name, of: p}
	var stop *tagged
	if n.body, stop, err = m.nodes(true); err != nil {
		return nil, err
	}
	if stop.name != "end" {
		return nil, stop.at.fail("expected @end{}, not @else{}")
	}
	if stop.inner != "" {
		n.between, err = m.program(stop.at, stop.inner)
	}
	return n, err
}

const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

// program is an expression of chains.
type program struct {
	at pos
	p  *expr.Program
}

func (n *program) position() pos { return n.at }

// eval runs the program on what is given, and the items of loops.
func (n *program) eval(r *run) (any, error) {
	// An expression costs by its length, beside what it is metered for as it runs.
	if err := r.step(n.at, len(n.p.Source)*itemSize); err != nil {
		return nil, err
	}
	v, err := n.p.View(r.data, r.meter(n.at))
	if fault.Is(err, fault.Invalid) {
		return nil, n.at.fail("%v", err)
	}
	return v, err
}

func (n *program) exec(r *run) error {
	v, err := n.eval(r)
	if err != nil {
		return err
	}
	if err := r.meter(n.at).Weigh(v); err != nil {
		return err
	}
	return r.write(n.at, expr.Text(v))
}

// eachOf writes its body for each item of a list.
type eachOf struct {
	at      pos
	name    string
	of      *program
	body    []node
	between *program
}

func (n *eachOf) exec(r *run) error {
	v, err := n.of.eval(r)
	if err == nil {
		v, err = r.normal(n.at, v)
	}
	if err != nil {
		return err
	}
	var all []any
	switch v := v.(type) {
	case nil:
	case []any:
		all = v
	default:
		return n.at.fail("expected a list, not %s", what(v))
	}
	// The variable is set among those that were given, the only ones that
	// expressions of chains see. What it hides is put back.
	outer, had := r.data[n.name]
	defer func() {
		if r.data[n.name] = outer; !had {
			delete(r.data, n.name)
		}
	}()
	for i, item := range all {
		if err := r.step(n.at, 0); err != nil {
			return err
		}
		r.data[n.name] = item
		if err := r.all(n.body); err != nil {
			return err
		}
		if n.between != nil && i+1 < len(all) {
			if err := n.between.exec(r); err != nil {
				return err
			}
		}
	}
	return nil
}

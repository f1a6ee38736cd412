package template

import (
	"slices"
	"strings"
)

// escaping is an <#escape> that is open.
type escaping struct {
	name string
	as   expression
}

// piece is what a line of a template is made of: text, something that shows, or a tag. The parser notes them
// in the order of the source, since whether a line holds only tags is known no earlier than at its end, when
// the texts on it are already in the tree (strip).
type piece struct {
	text *text // nil for the others
	// whether the piece is a tag or a comment, which show nothing themselves; false for an interpolation
	tag bool
}

// parseTags reads FTL. The format is that of the values which interpolations escape: "html", or "" for none;
// a header in the template may choose another. A byte order mark at the beginning is not text.
func parseTags(t *Template, source, format string, l Limits) error {
	source = strings.TrimPrefix(source, "\ufeff")
	t.source = source
	p := &parser{lexer: lexer{text: source}, t: t, limits: l, strips: true, declared: format, format: format}
	if strings.HasPrefix(strings.TrimSpace(source), "[#") {
		return pos(0).fail("tags in square brackets are not supported: write <#…>")
	}
	body, _, err := p.nodes()
	if err != nil {
		return err
	}
	t.body = body
	if p.strips {
		p.strip()
	}
	return nil
}

// nodes reads up to the end or a tag that stops it, whose first token is read then.
func (p *parser) nodes(stops ...string) (out []node, stop string, err error) {
	if err := p.nest(); err != nil {
		return nil, "", err
	}
	defer func() { p.deep-- }()
	for {
		from, to := p.pos, p.upToNext()
		if to > from {
			t := &text{at: pos(from), s: p.text[from:to]}
			p.pieces = append(p.pieces, piece{text: t})
			out = append(out, t)
		}
		p.pos = to
		if to == len(p.text) {
			if len(stops) > 0 {
				return nil, "", pos(to).fail("<%s> is missing at the end of the template", strings.Replace(strings.Replace(stops[0], "/", "/#", 1), "#@", "@", 1))
			}
			return out, "", nil
		}
		n, stop, err := p.one(stops)
		if err != nil {
			return nil, "", err
		}
		if n != nil {
			out = append(out, n)
		}
		if stop != "" {
			return out, stop, nil
		}
	}
}

// upToNext is where the next tag, comment or interpolation begins. A < or $ that begins none of them is text,
// so that HTML and prices need no escaping.
func (p *parser) upToNext() int {
	for i := p.pos; i < len(p.text); i++ {
		switch rest := p.text[i:]; rest[0] {
		case '<':
			if strings.HasPrefix(rest, "<#") && (strings.HasPrefix(rest, commentBegins) || len(rest) > 2 && letter(rest[2])) ||
				strings.HasPrefix(rest, "</#") || strings.HasPrefix(rest, "<@") && len(rest) > 2 && letter(rest[2]) || strings.HasPrefix(rest, "</@") {
				return i
			}
		case '$', '#':
			if strings.HasPrefix(rest[1:], "{") {
				return i
			}
		}
	}
	return len(p.text)
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }

// one reads a comment, an interpolation or a tag. It returns the name of the tag instead of a node if the tag
// is one of stops, with the first token after the name already read.
func (p *parser) one(stops []string) (node, string, error) {
	at, rest := pos(p.pos), p.text[p.pos:]
	switch {
	case strings.HasPrefix(rest, commentBegins):
		n := strings.Index(rest, commentEnds)
		if n < 0 {
			return nil, "", at.fail("the comment is not closed")
		}
		p.pos += n + len(commentEnds)
		p.pieces = append(p.pieces, piece{tag: true})
		return nil, "", nil
	case rest[0] == '#':
		return nil, "", at.fail("#{…} is not supported: write ${…}, with ?string and a format")
	case rest[0] == '$':
		n, err := p.interpolation(at)
		return n, "", err
	}
	p.pieces = append(p.pieces, piece{tag: true})
	name := p.tagName()
	p.depth, p.inTag = 0, true
	if err := p.next(); err != nil {
		return nil, "", err
	}
	if slices.Contains(stops, name) || strings.HasPrefix(name, "/@") && slices.Contains(stops, "/@") {
		return nil, name, nil
	}
	switch {
	case name == "sep" && p.loops > 0 && len(stops) > 0:
		return p.separator(at, stops)
	case strings.HasPrefix(name, "/"):
		return nil, "", at.fail("<%s> closes nothing here", strings.Replace(name, "/", "/#", 1))
	case strings.HasPrefix(name, "@"):
		n, err := p.call(at, name[1:])
		return n, "", err
	}
	n, err := p.directive(at, name)
	return n, "", err
}

// tagName passes the beginning of a tag: if, /if, @name, /@name.
func (p *parser) tagName() string {
	i := p.pos + 1
	name := ""
	if p.text[i] == '/' {
		name = "/"
		i++
	}
	if p.text[i] == '@' {
		name += "@"
	}
	i++
	from := i
	for i < len(p.text) && (letter(p.text[i]) || '0' <= p.text[i] && p.text[i] <= '9' || p.text[i] == '.' && strings.Contains(name, "@")) {
		i++
	}
	p.pos = i
	return name + p.text[from:i]
}

// interpolation reads ${…}. The escapes that are open here are copied: the same parser state changes when
// their tags close.
func (p *parser) interpolation(at pos) (node, error) {
	p.pieces = append(p.pieces, piece{})
	p.pos += 2
	p.depth, p.inTag = 0, false
	if err := p.next(); err != nil {
		return nil, err
	}
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != end {
		return nil, p.here().fail("expected }, not %s", p.shown())
	}
	return &interpolation{at: at, x: x, escapes: slices.Clone(p.escape), format: p.format}, nil
}

// over checks that the tag ends.
func (p *parser) over() error {
	if p.tok.kind != end {
		return p.here().fail("expected the end of the tag, not %s", p.shown())
	}
	return nil
}

// block reads the nodes in a tag, whose end is read already, up to its closing tag.
func (p *parser) block(stop string) ([]node, error) {
	if err := p.over(); err != nil {
		return nil, err
	}
	body, _, err := p.nodes(stop)
	if err != nil {
		return nil, err
	}
	return body, p.over()
}

// value reads the expression that is all of a tag.
func (p *parser) value() (expression, error) {
	x, err := p.expression()
	if err == nil {
		err = p.over()
	}
	return x, err
}

// strip takes lines that hold nothing but tags out of the text: their spaces, and their end. FreeMarker does
// the same, so that directives on lines of their own leave no empty lines. A line with an interpolation
// stays, even if it renders nothing. The cost is proportional to the text.
func (p *parser) strip() {
	type part struct {
		t        *text
		from, to int
	}
	var line []part
	tagged, shows := false, false
	cuts := map[*text][]part{}
	finish := func() {
		if tagged && !shows {
			for _, s := range line {
				cuts[s.t] = append(cuts[s.t], s)
			}
		}
		line, tagged, shows = line[:0], false, false
	}
	for _, item := range p.pieces {
		if item.text == nil {
			tagged, shows = tagged || item.tag, shows || !item.tag
			continue
		}
		s := item.text.s
		for from := 0; from < len(s); {
			to, ends := len(s), false
			if n := strings.IndexByte(s[from:], '\n'); n >= 0 {
				to, ends = from+n+1, true
			}
			shows = shows || strings.TrimSpace(s[from:to]) != ""
			line = append(line, part{item.text, from, to})
			if ends {
				finish()
			}
			from = to
		}
	}
	finish()
	for t, parts := range cuts {
		var b strings.Builder
		last := 0
		for _, c := range parts {
			b.WriteString(t.s[last:c.from])
			last = c.to
		}
		b.WriteString(t.s[last:])
		t.s = b.String()
	}
}

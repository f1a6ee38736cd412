package template

import (
	"slices"
	"strconv"
	"strings"
)

// parser reads FTL by recursive descent; its methods follow the grammar, with one token read ahead in tok.
// Both the depth of the recursion (nest) and the length of a row of operators or members (maxOperators,
// postfix) are bounded, because evaluation goes as deep as the tree it builds.
type parser struct {
	lexer
	t                *Template
	limits           Limits
	deep             int
	escape           []escaping // <#escape> around, the outermost first
	loops, choices   int        // <#list> and <#switch> around, within the macro that is read
	pieces           []piece    // of which lines are made
	strips           bool       // lines of tags alone are left out
	format, declared string     // what values are made safe for here, and as the header says
}

// op reports whether a mark is next; it does not pass it.
func (p *parser) op(text string) bool { return p.tok.kind == mark && p.tok.text == text }

// accept passes a mark if it is next.
func (p *parser) accept(text string) (bool, error) {
	if !p.op(text) {
		return false, nil
	}
	return true, p.next()
}

func (p *parser) expect(text string) error {
	ok, err := p.accept(text)
	if err == nil && !ok {
		err = p.here().fail("expected %s, not %s", text, p.shown())
	}
	return err
}

// here is the place of the token.
func (p *parser) here() pos { return p.posAt(p.tok.from) }

// shown is the token for errors.
func (p *parser) shown() string {
	if p.tok.kind == end {
		return "the end of the tag"
	}
	return p.text[p.tok.from:p.tok.upto]
}

// nest bounds how deep a template goes; its caller takes the level back. Expressions, blocks and signs share
// one count.
func (p *parser) nest() error {
	if p.deep++; p.deep > p.limits.Depth {
		return p.here().exceed("is nested more than %d deep", p.limits.Depth)
	}
	return nil
}

// levels are the operators of two sides, those that bind least first. All of them associate to the left.
var levels = [][]string{
	{"||"}, {"&&"}, {"==", "=", "!="}, {"<", "<=", ">", ">="}, {"..", "..<", "..!", "..*"}, {"+", "-"}, {"*", "/", "%"},
}

func (p *parser) expression() (expression, error) {
	if err := p.nest(); err != nil {
		return nil, err
	}
	defer func() { p.deep-- }()
	return p.level(0)
}

// maxOperators bounds a row of operators, which is gone through deep first. A row a + b + c… makes a tree
// that is as deep as it is long, and each level takes Go stack when it is evaluated.
const maxOperators = 1000

func (p *parser) level(n int) (expression, error) {
	if n == len(levels) {
		return p.signed()
	}
	left, err := p.level(n + 1)
	for count := 0; err == nil && p.tok.kind == mark && slices.Contains(levels[n], p.tok.text); count++ {
		if count > maxOperators {
			return nil, p.here().exceed("has more than %d operators", maxOperators)
		}
		at, op := p.here(), p.tok.text
		if err = p.next(); err != nil {
			break
		}
		if strings.HasPrefix(op, "..") {
			return p.interval(at, left, op, n)
		}
		var right expression
		if right, err = p.level(n + 1); err == nil {
			left = &binary{at, op, left, right}
		}
	}
	return left, err
}

// interval is a range; one that has no end is only for parts of texts and lists.
func (p *parser) interval(at pos, from expression, op string, n int) (expression, error) {
	// Another spelling of the same range.
	if op == "..!" {
		op = "..<"
	}
	if !p.begins() {
		if op != ".." {
			return nil, p.here().fail("expected the end of the range")
		}
		return &interval{at, from, nil, op}, nil
	}
	to, err := p.level(n + 1)
	return &interval{at, from, to, op}, err
}

// begins reports whether an expression may begin here.
func (p *parser) begins() bool {
	switch p.tok.kind {
	case word:
		return p.tok.text != "as" && p.tok.text != "in" && p.tok.text != "using"
	case digits, quoted:
		return true
	case mark:
		return slices.Contains([]string{"(", "[", "{", "-", "+", "!", "."}, p.tok.text)
	}
	return false
}

func (p *parser) signed() (expression, error) {
	for _, op := range []string{"!", "-", "+"} {
		if !p.op(op) {
			continue
		}
		at := p.here()
		if err := p.next(); err != nil {
			return nil, err
		}
		if err := p.nest(); err != nil {
			return nil, err
		}
		of, err := p.signed()
		p.deep--
		return &unary{at, op, of}, err
	}
	return p.postfix()
}

func (p *parser) postfix() (expression, error) {
	from := p.tok.from
	x, err := p.primary()
	for n := 0; err == nil && p.tok.kind == mark; n++ {
		if n > p.limits.Depth*4 {
			return nil, p.here().exceed("is more than %d long", n-1)
		}
		at := p.here()
		switch p.tok.text {
		case ".":
			x, err = p.member(at, x, from)
		case "[":
			x, err = p.index(at, x, from)
		case "(":
			var args []expression
			if args, err = p.arguments(); err == nil {
				x = &call{at, x, args, p.text[from:p.tok.from]}
			}
		case "?":
			x, err = p.builtin(x)
		case "??":
			x, err = &defined{at, x}, p.next()
		case "!":
			x, err = p.otherwise(at, x)
		default:
			return x, nil
		}
	}
	return x, err
}

// member is what stands behind a dot.
func (p *parser) member(at pos, of expression, from int) (expression, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.tok.kind != word {
		return nil, p.here().fail("expected a name after the dot, not %s", p.shown())
	}
	x := &member{at, of, &constant{at, p.tok.text}, p.text[from:p.tok.upto]}
	return x, p.next()
}

func (p *parser) index(at pos, of expression, from int) (expression, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	key, err := p.expression()
	if err != nil {
		return nil, err
	}
	if err := p.expect("]"); err != nil {
		return nil, err
	}
	return &member{at, of, key, strings.TrimSpace(p.text[from:p.tok.from])}, nil
}

// arguments are those in parentheses; the last may be a function of one parameter, x -> …
func (p *parser) arguments() ([]expression, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	var args []expression
	for !p.op(")") {
		if len(args) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		// Whether a name is a parameter is known only at the arrow behind it.
		if v, ok := x.(*variable); ok && p.op("->") {
			if err := p.next(); err != nil {
				return nil, err
			}
			body, err := p.expression()
			if err != nil {
				return nil, err
			}
			x = &lambda{v.at, v.name, body}
		}
		args = append(args, x)
	}
	return args, p.next()
}

// otherwise is a default: what follows, or nothing. Behind name=value pairs of a tag, x! a=1 means no default
// and a further parameter, as in FreeMarker.
func (p *parser) otherwise(at pos, of expression) (expression, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	x := &fallback{at: at, of: of}
	if !p.begins() || p.assigns() {
		return x, nil
	}
	var err error
	x.or, err = p.expression()
	return x, err
}

// assigns reports whether the next word is a parameter of the tag: name=
func (p *parser) assigns() bool {
	rest := strings.TrimLeft(p.text[p.tok.upto:], " \t\r\n")
	return p.inTag && p.tok.kind == word && strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==")
}

// builtin reads ?name and its arguments, whose number is checked here, so that built-ins need not.
func (p *parser) builtin(of expression) (expression, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	at := p.here()
	if p.tok.kind != word {
		return nil, at.fail("expected a built-in after the question mark, not %s", p.shown())
	}
	name := p.tok.text
	b, ok := builtins[name]
	if !ok {
		return nil, at.fail("unknown built-in ?%s%s", name, perhaps(name, builtins))
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	x := &built{at: at, name: name, of: of, do: b}
	if b.loop {
		v, ok := of.(*variable)
		if !ok {
			return nil, at.fail("?%s requires a loop variable", name)
		}
		x.of = &constant{at, v.name}
	}
	if b.most == 0 || !p.op("(") {
		if b.least > 0 {
			return nil, at.fail("?%s requires arguments", name)
		}
		return x, nil
	}
	var err error
	if x.args, err = p.arguments(); err != nil {
		return nil, err
	}
	if len(x.args) < b.least || len(x.args) > b.most {
		return nil, at.fail("?%s requires %d to %d arguments, not %d", name, b.least, b.most, len(x.args))
	}
	return x, nil
}

func (p *parser) primary() (expression, error) {
	at, tok := p.here(), p.tok
	switch tok.kind {
	case word:
		return p.named(at, tok.text)
	case digits:
		// Integers stay exact as long as they fit in 64 bits.
		n, err := strconv.ParseInt(tok.text, 10, 64)
		var v any = n
		if err != nil {
			f, err := strconv.ParseFloat(tok.text, 64)
			if err != nil {
				return nil, at.fail("%s is not a number", tok.text)
			}
			v = f
		}
		return &constant{at, v}, p.next()
	case quoted:
		x, err := p.quoted(at, tok)
		if err != nil {
			return nil, err
		}
		return x, p.next()
	case mark:
		switch tok.text {
		case "(":
			return p.parens(at)
		case "[":
			return p.list(at)
		case "{":
			return p.hash(at)
		case ".":
			return p.special(at)
		}
	}
	return nil, at.fail("expected an expression, not %s", p.shown())
}

func (p *parser) named(at pos, name string) (expression, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	switch name {
	case "true":
		return &constant{at, true}, nil
	case "false":
		return &constant{at, false}, nil
	}
	p.t.add(name)
	return &variable{at, name}, nil
}

// special is a variable of the language. Of those only .now exists; it is the time of the call, so that all
// templates of a transaction show the same, and it may be replaced by tests.
func (p *parser) special(at pos) (expression, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.tok.kind != word || p.tok.text != "now" {
		return nil, at.fail(".%s is unknown; only .now is supported", p.shown())
	}
	p.t.add("CurrentDate")
	return &variable{at, "CurrentDate"}, p.next()
}

func (p *parser) parens(at pos) (expression, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	return &enclosed{at, x}, p.expect(")")
}

func (p *parser) list(at pos) (expression, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	l := &listed{at: at}
	for !p.op("]") {
		if len(l.items) > 0 {
			if ok, err := p.accept(","); err != nil {
				return nil, err
				// FTL takes items without commas between them.
			} else if !ok && !p.begins() {
				return nil, p.expect(",")
			}
		}
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		l.items = append(l.items, x)
	}
	return l, p.next()
}

func (p *parser) hash(at pos) (expression, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	h := &hashed{at: at}
	for !p.op("}") {
		if len(h.keys) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		key, err := p.expression()
		if err != nil {
			return nil, err
		}
		if ok, err := p.accept(","); err != nil {
			return nil, err
		} else if !ok {
			if err := p.expect(":"); err != nil {
				return nil, err
			}
		}
		v, err := p.expression()
		if err != nil {
			return nil, err
		}
		h.keys, h.values = append(h.keys, key), append(h.values, v)
	}
	return h, p.next()
}

// quoted is a text with the places in it. Each ${…} is read by a parser of its own on the rest of the text,
// which shares the depth with this one: quoted texts may be nested in interpolations in quoted texts.
func (p *parser) quoted(at pos, tok token) (expression, error) {
	if tok.raw || !strings.Contains(tok.text, "${") {
		return &constant{at, strings.ReplaceAll(tok.text, plainMark, "")}, nil
	}
	if err := p.nest(); err != nil {
		return nil, err
	}
	defer func() { p.deep-- }()
	j := &joined{at: at}
	for rest := tok.text; rest != ""; {
		text, after, found := strings.Cut(rest, "${")
		j.parts = append(j.parts, &constant{at, strings.ReplaceAll(text, plainMark, "")})
		if !found {
			break
		}
		inner := parser{lexer: lexer{text: after, at0: at, inner: true}, t: p.t, limits: p.limits, deep: p.deep}
		if err := inner.next(); err != nil {
			return nil, err
		}
		x, err := inner.expression()
		if err != nil {
			return nil, err
		}
		if inner.tok.kind != end {
			return nil, at.fail("expected }, not %s", inner.shown())
		}
		j.parts = append(j.parts, x)
		rest = after[inner.tok.upto:]
	}
	return j, nil
}

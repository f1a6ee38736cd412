package convert

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"catena/decks/field"
)

// maxScript is the longest script in which options are looked for, in bytes. Pages that carry the framework itself have
// longer ones, which set none.
const maxScript = 256 << 10

// configure reads the options that a script gives the framework as constants: the members of the object in
// Reveal.initialize({...}), Reveal.configure({...}) and new Reveal(element, {...}). A script that cannot be parsed has none.
// The parser reads modules, and limits how deep source may be nested.
func (p *page) configure(script string) {
	if len(script) > maxScript || !strings.Contains(script, "Reveal") {
		return
	}
	tree, err := js.Parse(parse.NewInputString(script), js.Options{})
	if err != nil {
		return
	}
	js.Walk((*configured)(p), tree)
}

// configured sets the options of the calls that it visits.
type configured page

// Enter reads a call, and goes on with what is in it.
func (p *configured) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.CallExpr:
		if at, ok := n.X.(*js.DotExpr); ok && isReveal(at.X) && slices.Contains([]string{"initialize", "configure"}, at.Y.String()) {
			p.arguments(n.Args)
		}
	case *js.NewExpr:
		if isReveal(n.X) && n.Args != nil {
			p.arguments(*n.Args)
		}
	}
	return p
}

// Exit leaves a node; there is nothing to do.
func (p *configured) Exit(js.INode) {}

func isReveal(x js.IExpr) bool {
	v, ok := x.(*js.Var)
	return ok && string(v.Name()) == "Reveal"
}

func (p *configured) arguments(args js.Args) {
	for _, arg := range args.List {
		options, ok := arg.Value.(*js.ObjectExpr)
		if !ok {
			continue
		}
		for _, member := range options.List {
			if member.Name == nil || member.Name.IsComputed() {
				continue
			}
			name := strings.Trim(member.Name.Literal.String(), `"'`)
			i := slices.IndexFunc(field.Fields, func(f field.Field) bool { return f.Option == name })
			if value := constant(member.Value); i >= 0 && name != "" && value != nil {
				p.option(&field.Fields[i], value)
			}
		}
	}
}

// constant returns the value of a boolean, a number or a text that is written as such; nil for all else.
func constant(x js.IExpr) any {
	switch x := x.(type) {
	case *js.LiteralExpr:
		return literal(x)
	case *js.UnaryExpr: // minified: !0 is true
		if n, ok := x.X.(*js.LiteralExpr); ok && x.Op == js.NotToken && (n.String() == "0" || n.String() == "1") {
			return n.String() == "0"
		}
	case *js.TemplateExpr:
		if len(x.List) == 0 && x.Tag == nil {
			return unescaped(string(x.Tail))
		}
	}
	return nil
}

func literal(x *js.LiteralExpr) any {
	switch x.TokenType {
	case js.TrueToken, js.FalseToken:
		return x.TokenType == js.TrueToken
	case js.StringToken:
		return unescaped(x.String())
	case js.DecimalToken, js.IntegerToken:
		if n, err := strconv.ParseFloat(x.String(), 64); err == nil {
			return n
		}
	}
	return nil
}

// unescaped is a text between quotes. The options have no values that need escapes.
func unescaped(quoted string) any {
	if strings.Contains(quoted, `\`) || len(quoted) < 2 {
		return nil
	}
	return quoted[1 : len(quoted)-1]
}

// option sets the field of an option. Numbers may be written as texts, as the framework's own pages do.
func (p *configured) option(f *field.Field, value any) {
	text, isText := value.(string)
	number, isNumber := value.(float64)
	if isText {
		n, err := strconv.ParseFloat(text, 64)
		number, isNumber = n, err == nil
	}
	switch f.Type {
	case field.Boolean:
		if b, ok := value.(bool); ok {
			p.d.set(f.Name, b)
		}
	case field.Number:
		if isNumber && number >= 0 {
			p.d.set(f.Name, number)
		}
	case field.Integer:
		if to := map[string]*int64{"width": &p.d.Width, "height": &p.d.Height}[f.Name]; to != nil && isNumber && number >= 1 && number < maxSize {
			*to = int64(number)
		}
	case field.Text, field.Object, field.Address, field.Moment:
		if isText {
			p.d.set(f.Name, text)
		}
	}
}

// maxSize is the largest size of a slide that is taken over, in pixels.
const maxSize = 100_000

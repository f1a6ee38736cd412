// Package expr evaluates the expressions of stored chains: "expr:Document.path" and
// templates like "Hello @{CurrentUser.name}". The language is that of expr-lang without
// statements: values are plain (text, numbers, dates, lists, maps), and the only functions
// are its own and those in the environment. What the environment holds is the engine's
// concern; which text may be evaluated at all is decided there too.
//
// The library compiles and runs expressions; this package adds what it lacks. A meter counts the work of an
// evaluation and ends it with the call. The names that a program reads are collected while it is compiled
// (Program), so that a chain with a misspelt variable is refused when it is stored, and so that views of
// documents contain only the properties read.
package expr

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm"

	"catena/storage/fault"
)

// Bounds of an expression.
const (
	// maxCached texts of at most maxSource bytes are 64 MB in the worst case; expressions of chains
	// have a few dozen bytes as a rule.
	maxSource = 16 << 10
	maxNodes  = 2000
	memory    = 200_000 // items of the lists that an expression makes
	maxCached = 4096
	maxText   = 1 << 20 // bytes a template may make
)

// Program is a compiled expression or template. It may run several times at once.
// It is shared through the cache: nobody changes one after Parse.
type Program struct {
	Source string
	// Names are the variables it reads, Keys the texts it may use to look into them, and
	// Open says that it looks into them by what is only known when it runs.
	Names []string
	Keys  []string
	Open  bool
	// Helpers are the functions of Fn it calls, Methods those of other variables, as "Document.getProperty", Functions
	// those by a name alone, and Xpaths the properties that it reads of Document.
	Helpers, Methods, Functions, Xpaths []string

	at       map[string]int // where a name is first read, in bytes of Source
	whole    []string       // names of which more is read than members that are named
	lets     []string       // names that the part that is compiled gives values
	base     int            // where the part that is compiled begins
	parts    []part
	template bool
}

// part is a piece of a template: text, or an expression.
type part struct {
	text string
	code *vm.Program
}

// Is reports whether text of a trusted chain is an expression or a template.
func Is(text string) bool {
	return strings.HasPrefix(text, "expr:") || strings.Contains(text, "@{")
}

// The cache is for the whole process, because a program depends on nothing but its text. When it is
// full it is emptied: that costs a few compilations and needs no order of use on every hit.
var cache = struct {
	sync.Mutex
	programs map[string]*Program
}{programs: map[string]*Program{}}

// Parse compiles text: after "expr:", or if bare, an expression; with "@{" in it a template.
// The result is shared between all who parse the same text.
func Parse(text string, bare bool) (*Program, error) {
	body, marked := strings.CutPrefix(text, "expr:")
	template := strings.Contains(body, "@{")
	if !bare && !marked && !template {
		return nil, fault.Invalid.Errorf("expression: %q is not an expression", text)
	}
	if len(text) > maxSource {
		return nil, fault.Limit.Errorf("expression: longer than %d bytes", maxSource).WithCode(fault.CodeExpression)
	}
	// "expr:x" and a bare "x" are one program. That a template is one can be seen from the text
	// itself.
	key := body
	cache.Lock()
	p := cache.programs[key]
	cache.Unlock()
	if p != nil {
		return p, nil
	}
	// Compiled without the lock: two callers may compile the same text at once, and either result
	// serves.
	p, err := parse(body, template)
	if err != nil {
		return nil, err
	}
	cache.Lock()
	defer cache.Unlock()
	if len(cache.programs) >= maxCached {
		clear(cache.programs)
	}
	cache.programs[key] = p
	return p, nil
}

func parse(body string, template bool) (*Program, error) {
	p := &Program{Source: body, template: template}
	if !template {
		return p, p.compile(body)
	}
	for body != "" {
		at := strings.Index(body, "@{")
		if at < 0 {
			p.parts = append(p.parts, part{text: body})
			break
		}
		if at > 0 {
			p.parts = append(p.parts, part{text: body[:at]})
		}
		end := Closing(body[at+2:])
		if end < 0 {
			return nil, fault.Invalid.Errorf("expression: %q is not terminated", body[at:])
		}
		p.base = len(p.Source) - len(body) + at + 2
		if err := p.compile(body[at+2 : at+2+end]); err != nil {
			return nil, err
		}
		body = body[at+2+end+1:]
	}
	return p, nil
}

// Closing finds the brace that ends an expression, past braces and quotes within it; -1 if there is none.
// In backquotes a backslash stands for itself, as in the language. The scan is linear and knows no
// grammar; a brace in a comment of the expression would mislead it.
func Closing(s string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		b := s[i]
		switch {
		case quote != 0:
			if b == '\\' && quote != '`' {
				i++
			} else if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'' || b == '`':
			quote = b
		case b == '{':
			depth++
		case b == '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// Unknown variables are allowed here since the environment differs from call to call; the plan
// checks Names against what is in scope. "now" is replaced because a step may be tried again, and
// then has to give the same result. The order of the patches matters: uses must see the program
// before metering wraps its parts in calls.
func (p *Program) compile(source string) error {
	own := &Program{base: p.base}
	options := append([]expr.Option{
		expr.AllowUndefinedVariables(), expr.MaxNodes(maxNodes), expr.Patch((*uses)(own)), expr.Patch(metering{}),
		expr.DisableBuiltin("now"), expr.Function("now", never), expr.Optimize(true),
	}, metered...)
	code, err := expr.Compile(source, options...)
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return fault.Invalid.Errorf("expression: %s", line).WithCode(fault.CodeExpression)
	}
	p.parts = append(p.parts, part{code: code})
	p.join(own)
	return nil
}

// join adds what a part reads. The environment need not have a variable that the part declares by let, but another part
// of the template still reads it from there.
func (p *Program) join(part *Program) {
	for _, name := range part.Names {
		if slices.Contains(part.lets, name) {
			continue
		}
		p.Names = add(p.Names, name)
		if _, seen := p.at[name]; !seen {
			if p.at == nil {
				p.at = map[string]int{}
			}
			p.at[name] = part.at[name]
		}
	}
	for _, list := range []struct {
		into *[]string
		from []string
	}{
		{&p.Keys, part.Keys}, {&p.whole, part.whole}, {&p.Helpers, part.Helpers}, {&p.Methods, part.Methods}, {&p.Functions, part.Functions}, {&p.Xpaths, part.Xpaths},
	} {
		for _, s := range list.from {
			*list.into = add(*list.into, s)
		}
	}
	p.Open = p.Open || part.Open
}

// At is where a name of Names is first read, in bytes of Source.
func (p *Program) At(name string) int { return p.at[name] }

// Builtins are the functions of the language.
func Builtins() []string { return slices.Sorted(maps.Keys(builtin.Index)) }

// never stands for functions whose result would differ from one attempt to the next.
func never(...any) (any, error) {
	return nil, fault.Invalid.Errorf("now: use CurrentDate")
}

// uses collects what a program reads.
type uses Program

// Visit notes variables and the keys that are looked up.
func (u *uses) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if u.at == nil {
			u.at = map[string]int{}
		}
		if _, seen := u.at[n.Value]; !seen {
			u.at[n.Value] = u.base + n.Location().From
		}
		u.Names = add(u.Names, n.Value)
		u.whole = append(u.whole, n.Value)
	case *ast.VariableDeclaratorNode:
		u.lets = add(u.lets, n.Name)
	case *ast.CallNode:
		if f, ok := n.Callee.(*ast.IdentifierNode); ok {
			u.Functions = add(u.Functions, f.Value)
		}
		if of, name, ok := member(n.Callee); ok {
			u.Methods = add(u.Methods, of+"."+name)
		}
	case *ast.MemberNode:
		u.look(n)
	}
}

// look notes what a member is looked up by.
func (u *uses) look(n *ast.MemberNode) {
	switch key := n.Property.(type) {
	case *ast.StringNode:
		of, _, ofVariable := member(n)
		if ofVariable { // which was visited last
			u.whole = u.whole[:len(u.whole)-1]
		}
		switch of {
		case "Fn":
			u.Helpers = add(u.Helpers, key.Value)
		case "Document", "currentDocument":
			if strings.Contains(key.Value, ":") {
				u.Xpaths = add(u.Xpaths, key.Value)
			}
		}
		u.Keys = add(u.Keys, key.Value)
		// Document.dc.title reads the property dc:title, so a key below a key counts as prefix
		// and name too.
		if of, ok := n.Node.(*ast.MemberNode); ok {
			if prefix, ok := of.Property.(*ast.StringNode); ok {
				u.Keys = add(u.Keys, prefix.Value+":"+key.Value)
			}
		}
	// The position in a list, which reveals no name.
	case *ast.IntegerNode:
	default:
		u.Open = true
	}
}

// member takes a member of a variable apart.
func member(node ast.Node) (of, name string, ok bool) {
	m, ok := node.(*ast.MemberNode)
	if !ok {
		return "", "", false
	}
	v, isVar := m.Node.(*ast.IdentifierNode)
	key, isText := m.Property.(*ast.StringNode)
	if !isVar || !isText {
		return "", "", false
	}
	return v.Value, key.Value, true
}

func add(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// Uses reports whether the program reads one of the variables.
func (p *Program) Uses(names ...string) bool {
	for _, name := range names {
		if slices.Contains(p.Names, name) {
			return true
		}
	}
	return false
}

// Whole reports whether the program may read more of a variable than members that it names. What describes a template, and was not
// compiled, may.
func (p *Program) Whole(name string) bool {
	return p.parts == nil || p.Open || slices.Contains(p.whole, name) || slices.Contains(p.whole, "$env")
}

// Members is where a view that has only what a program looks at has the sorted names of all its members, for errors.
const Members = "\x00members"

// Lookup is where the view of a document has the function that finds what else is known of it by a name: an xpath,
// a schema or its prefix.
const Lookup = "\x00lookup"

// Handle marks a map of the environment as the plain view of a value: a result that is the
// map becomes the value again.
const Handle = "\x00value"

// View runs an expression once, and leaves views of values in its result what they are.
// It is for expressions only, never for templates, and the caller weighs the result if it keeps it.
func (p *Program) View(env map[string]any, m *Meter) (any, error) {
	return run(p.parts[0].code, env, m)
}

// Eval runs the program once. The result of a template is text, but for one that consists of an expression alone whose value is
// a map, or a list with maps in it.
func (p *Program) Eval(env map[string]any, m *Meter) (any, error) {
	if !p.template {
		v, err := run(p.parts[0].code, env, m)
		if err == nil {
			err = m.Weigh(v)
		}
		if err != nil {
			return nil, err
		}
		return unwrap(v, 0), nil
	}
	var b strings.Builder
	for i := range p.parts {
		if p.parts[i].code == nil {
			b.WriteString(p.parts[i].text)
			continue
		}
		v, err := run(p.parts[i].code, env, m)
		if err == nil {
			err = m.Weigh(v)
		}
		if err != nil {
			return nil, err
		}
		if len(p.parts) == 1 && structured(v) { // nothing is around it: nobody could use a text of it
			return unwrap(v, 0), nil
		}
		b.WriteString(Text(v))
		if b.Len() > maxText {
			return nil, fault.Limit.Errorf("expression: produces more than %d bytes", maxText).WithCode(fault.CodeExpression)
		}
	}
	return b.String(), nil
}

// run runs a program, whose variables get the meter too.
func run(code *vm.Program, env map[string]any, m *Meter) (any, error) {
	// The meter goes into the caller's map: a map must not serve two programs at once.
	machine := vm.VM{MemoryBudget: memory}
	env[meterName] = m
	v, err := machine.Run(code, env)
	// The meter comes first: it has the fault with its kind, which the machine wraps in text of its
	// own. A function that ignores the error of a step cannot make the program succeed either.
	if m.err != nil {
		return nil, m.err
	}
	if err == nil {
		return v, nil
	}
	// Functions of the environment return faults with a kind and a field; the machine wraps them in
	// its own text with the place in the program, which callers do not need.
	var f *fault.Error
	if errors.As(err, &f) {
		return nil, f
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	if strings.Contains(line, "memory budget") {
		return nil, fault.Limit.Errorf("expression: uses too much memory").WithCode(fault.CodeExpression)
	}
	line = ofNothing.ReplaceAllString(line, "cannot read $1 of an empty value")
	return nil, fault.Invalid.Errorf("expression: %s", line).WithCode(fault.CodeExpression)
}

// ofNothing is what the library says when a member of nil is read.
var ofNothing = regexp.MustCompile(`cannot fetch (.+?) from <nil>`)

// unwrap puts values in place of their plain views.
func unwrap(v any, depth int) any {
	// Values deeper than that are left as views; Weigh has already refused those that are endless.
	if depth > 32 {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if of, ok := v[Handle]; ok {
			return of
		}
		for _, item := range v {
			switch item.(type) {
			case map[string]any, []any, int:
				copied := make(map[string]any, len(v))
				for name, item := range v {
					copied[name] = unwrap(item, depth+1)
				}
				return copied
			}
		}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = unwrap(item, depth+1)
		}
		return out
	case int:
		return int64(v)
	}
	return v
}

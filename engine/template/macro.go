package template

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"catena/engine/expr"
)

// macro is a macro or a function. Definitions are read when the template is parsed and hold everywhere in it,
// also above the definition.
type macro struct {
	at       pos
	name     string
	function bool
	params   []parameter
	body     []node
}

type parameter struct {
	name string
	or   expression // nil: it has to be given
}

// nesting is what a call of a macro encloses, with the scopes of the caller: <#nested> renders the body as if
// it stood at the call.
type nesting struct {
	body   []node
	vars   []string
	locals []map[string]any
}

// run begins a macro with arguments. The slices of scopes are capped before they are appended to, so that a
// macro cannot write into the array that its caller still uses.
func (m *macro) run(r *run, at pos, args map[string]any, within nesting) error {
	if err := r.enter(at); err != nil {
		return err
	}
	defer r.leave()
	if err := r.step(at, len(m.params)*entrySize+(len(r.locals)+len(r.nested))*scopeSize); err != nil {
		return err
	}
	locals, nested := r.locals, r.nested
	scope := map[string]any{bottomOfMacro: true}
	r.locals, r.nested = append(locals[:len(locals):len(locals)], scope), append(nested[:len(nested):len(nested)], within)
	defer func() { r.locals, r.nested = locals, nested }()
	maps.Copy(scope, args)
	for _, p := range m.params {
		if _, ok := scope[p.name]; ok {
			continue
		}
		if p.or == nil {
			return at.fail("%s requires %s", m.name, p.name)
		}
		v, err := r.need(p.or)
		if err != nil {
			return err
		}
		scope[p.name] = v
	}
	return r.all(m.body)
}

type macroCall struct {
	at    pos
	name  string
	args  []expression
	named map[string]expression
	vars  []string
	body  []node
}

func (n *macroCall) exec(r *run) error {
	v, err := r.lookup(n.at, n.name)
	if err != nil {
		return err
	}
	m, ok := v.(*macro)
	if !ok || m.function {
		return n.at.fail("unknown macro %s", n.name)
	}
	args, err := m.bind(r, n.at, n.args, n.named)
	if err != nil {
		return err
	}
	err = m.run(r, n.at, args, nesting{n.body, n.vars, r.locals})
	if signals(err, "return") {
		return nil
	}
	return err
}

// bind evaluates arguments by the names of the parameters. An argument whose value is missing counts as not
// given, so its parameter takes its default.
func (m *macro) bind(r *run, at pos, args []expression, named map[string]expression) (map[string]any, error) {
	if len(args) > len(m.params) {
		return nil, at.fail("%s requires %d arguments, not %d", m.name, len(m.params), len(args))
	}
	out := map[string]any{}
	set := func(name string, x expression) error {
		v, err := r.eval(x)
		if err == nil && v != nil {
			out[name] = v
		}
		return err
	}
	for i, x := range args {
		if err := set(m.params[i].name, x); err != nil {
			return nil, err
		}
	}
	known := 0
	for _, p := range m.params {
		if x, ok := named[p.name]; ok {
			known++
			if err := set(p.name, x); err != nil {
				return nil, err
			}
		}
	}
	if known == len(named) {
		return out, nil
	}
	for _, name := range slices.Sorted(maps.Keys(named)) { // the same error each time
		if !slices.ContainsFunc(m.params, func(p parameter) bool { return p.name == name }) {
			return nil, at.fail("%s has no parameter %s", m.name, name)
		}
	}
	return out, nil
}

// nestedBody writes what the call of the macro encloses.
type nestedBody struct {
	at   pos
	args []expression
}

// exec renders the body with the scopes of the caller, and without the innermost nesting: a <#nested> in the
// body means that of the macro around the call.
func (n *nestedBody) exec(r *run) error {
	if len(r.nested) == 0 {
		return n.at.fail("<#nested> is outside a macro")
	}
	if err := r.enter(n.at); err != nil {
		return err
	}
	defer r.leave()
	locals, nested := r.locals, r.nested
	within := nested[len(nested)-1]
	if err := r.step(n.at, len(within.locals)*scopeSize); err != nil {
		return err
	}
	scope := map[string]any{}
	for i, x := range n.args {
		v, err := r.eval(x)
		if err != nil {
			return err
		}
		if i < len(within.vars) {
			scope[within.vars[i]] = v
		}
	}
	r.locals, r.nested = append(within.locals[:len(within.locals):len(within.locals)], scope), nested[:len(nested)-1]
	defer func() { r.locals, r.nested = locals, nested }()
	return r.all(within.body)
}

// eval calls a function: one of the template, or one that is given.
func (x *call) eval(r *run) (any, error) {
	f, err := r.need(x.f)
	if err != nil {
		return nil, err
	}
	switch f := f.(type) {
	case *macro:
		return f.result(r, x)
	case function:
		return r.callGiven(x, f)
	}
	return nil, x.at.fail("%s is %s and cannot be called", nameOf(x.f), what(f))
}

// callGiven calls a function that is given. It may go through all of its arguments, however deep they are.
func (r *run) callGiven(x *call, f function) (any, error) {
	if err := r.step(x.at, callSize); err != nil {
		return nil, err
	}
	meter := r.meter(x.at)
	args := make([]any, len(x.args))
	for i, a := range x.args {
		v, err := r.need(a)
		if err != nil {
			return nil, err
		}
		args[i] = given(v)
		if err := meter.Weigh(args[i]); err != nil {
			return nil, err
		}
	}
	v, err := f(args...)
	if err != nil {
		return nil, err
	}
	if err := meter.Weigh(v); err != nil {
		return nil, err
	}
	return normal(v), nil
}

// meter counts what expressions of chains cost as steps of the template.
func (r *run) meter(at pos) *expr.Meter {
	return expr.NewMeter(func(size int) error { return r.step(at, size) })
}

// result is what a function returns, nil (missing) if it ends without <#return>.
func (m *macro) result(r *run, x *call) (any, error) {
	if !m.function {
		return nil, x.at.fail("%s is a macro: write <@%s/>", m.name, m.name)
	}
	args, err := m.bind(r, x.at, x.args, nil)
	if err != nil {
		return nil, err
	}
	whole := r.out
	r.out = strings.Builder{} // what a function writes is nothing
	err = m.run(r, x.at, args, nesting{})
	r.out = whole
	var s *signal
	if errors.As(err, &s) && s.kind == "return" {
		return s.v, nil
	}
	return nil, err
}

// given is a value as functions that are given take it.
func given(v any) any {
	switch v := v.(type) {
	case moment:
		return v.t
	case markup:
		return string(v)
	case nothing:
		return ""
	case view:
		return map[string]any(v)
	case function:
		return expr.Func(v)
	case *hash:
		return v.values
	}
	return v
}

// macro reads the definition of a macro or a function, which can be called anywhere in the template.
func (p *parser) macro(at pos, kind string) error {
	if p.tok.kind != word && p.tok.kind != quoted {
		return p.here().fail("expected the name of the %s, not %s", kind, p.shown())
	}
	m := &macro{at: at, name: p.tok.text, function: kind == "function"}
	if err := p.next(); err != nil {
		return err
	}
	open := p.op("(")
	if open {
		if err := p.next(); err != nil {
			return err
		}
	}
	for p.tok.kind == word {
		param, err := p.parameter()
		if err != nil {
			return err
		}
		m.params = append(m.params, param)
		if _, err := p.accept(","); err != nil {
			return err
		}
	}
	if open {
		if err := p.expect(")"); err != nil {
			return err
		}
	}
	if p.t.macros[m.name] != nil {
		return at.fail("duplicate %s %s", kind, m.name)
	}
	p.t.macros[m.name] = m
	// An escape counts for the text it is around. The body is rendered where
	// it is called, so only its own escapes apply,
	// and only loops of its own can be left.
	kept, loops, choices := p.escape, p.loops, p.choices
	p.escape, p.loops, p.choices = nil, 0, 0
	var err error
	m.body, err = p.block("/" + kind)
	p.escape, p.loops, p.choices = kept, loops, choices
	return err
}

// parameter reads the name of a parameter, with its default value if it has one.
func (p *parser) parameter() (param parameter, err error) {
	param.name = p.tok.text
	if err := p.next(); err != nil {
		return param, err
	}
	if ok, err := p.accept("="); err != nil {
		return param, err
	} else if ok {
		if param.or, err = p.expression(); err != nil {
			return param, err
		}
	}
	// Refused here and not ignored: such a macro would lose arguments without a word.
	if p.op("..") || p.op("..*") {
		return param, p.here().fail("a parameter for a variable number of arguments is not supported")
	}
	return param, nil
}

// call reads <@name a=1 b=2 ; x>…</@name> and <@name 1 2/>.
func (p *parser) call(at pos, name string) (node, error) {
	n := &macroCall{at: at, name: name, named: map[string]expression{}}
	if err := p.macroArguments(n); err != nil {
		return nil, err
	}
	for p.op(";") || p.op(",") {
		if err := p.next(); err != nil {
			return nil, err
		}
		if p.tok.kind != word {
			return nil, p.here().fail("expected the name of a variable, not %s", p.shown())
		}
		n.vars = append(n.vars, p.tok.text)
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	if err := p.over(); err != nil {
		return nil, err
	}
	if p.tok.closed {
		return n, nil
	}
	body, stop, err := p.nodes("/@")
	if err != nil {
		return nil, err
	}
	if stop != "/@" && stop != "/@"+name {
		return nil, p.here().fail("expected </@%s>, not <%s>", name, stop)
	}
	n.body = body
	return n, p.over()
}

// macroArguments reads the arguments of a macro, up to ; or the end of the tag.
func (p *parser) macroArguments(n *macroCall) error {
	for p.tok.kind != end && !p.op(";") {
		if ok, err := p.accept(","); err != nil {
			return err
		} else if ok {
			continue
		}
		param := ""
		if p.assigns() {
			param = p.tok.text
			if err := p.next(); err != nil {
				return err
			}
			if err := p.next(); err != nil {
				return err
			}
		}
		x, err := p.expression()
		if err != nil {
			return err
		}
		if param == "" {
			n.args = append(n.args, x)
		} else {
			n.named[param] = x
		}
	}
	if len(n.args) > 0 && len(n.named) > 0 {
		return n.at.fail("the arguments of a macro must be either all named or all positional")
	}
	return nil
}

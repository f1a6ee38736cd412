package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"catena/engine/expr"
	"catena/storage/fault"
	"catena/storage/schema"
)

// Step is one operation of a chain, as written.
type Step struct {
	Op           string
	Params       map[string]any // strings that are expressions are evaluated in a trusted plan
	As           string         // variable that keeps the result too
	When         string         // expression; unless it is true the input passes on
	OnError      *Handler
	Retry        *Retry
	Undo         *Undo
	Block        *Block // instead of an operation
	File         string
	Line, Column int
	// Positions are where the parts of the step stand: "when", a parameter, and what is inside its value, as
	// "properties/dc:title".
	Positions map[string]Position
}

// Position is where something stands in a text, in lines and characters counted from 1.
type Position struct {
	Line, Column int
	Value        *Position // of a member, what it is given
	Text         string    // of a value on one line: as it is understood
	Start        int       // the column where it begins, behind a quotation mark; 0: it cannot be told
}

// text is the text at a position.
func (s *Step) text(path string) (string, bool) {
	p, ok := s.Positions[path]
	if !ok || p.Value == nil {
		return "", false
	}
	return p.Value.Text, p.Value.Start > 0
}

// Handler says what to do when a step has failed. What the step has written is undone first.
type Handler struct {
	Chain    string // operation to run on the step's input; its result replaces the failed one
	Continue bool   // the input passes on
	Result   any    // else: what replaces the result
}

// PlanOptions say how steps are to be understood.
type PlanOptions struct {
	Trusted bool // expressions are evaluated, and steps count as called from a chain
	Params  []Param
	Name    string
	Output  string // type word of the result, "" for what the last step gives

	// Types has the plan checked beyond what it needs: variables and functions of expressions, constants, and steps
	// behind one that returns nothing. nil: a text that was accepted before is only resolved again.
	Types *schema.Registry
	Vars  []string // variables that callers set

	// InScope is told which variables the expressions of each step may read; nil: nobody asks.
	InScope func(s *Step, vars []string)
}

// Plan is a list of steps whose names, parameters and types have been resolved.
type Plan struct {
	set       *Set
	def       *Def
	steps     []step
	effect    Effect
	signature []string
	trusted   bool
	out       kind // of the result; kAny: what the last step gives
	vars      scope
	waits     bool // it may leave the transaction before its end
}

// Waits reports whether the plan may leave the transaction before its end.
func (p *Plan) Waits() bool { return p.waits }

// step is a resolved Step.
type step struct {
	Step
	n        int
	d        *Def
	open     bool // everyone may call it from everywhere
	plain    bool // open, and every parameter is fixed
	proto    any  // the parameters, as far as they are fixed
	given    uint64
	computed []computed // parameters that are expressions
	values   map[string]any
	when     *expr.Program
	handler  *handler
	block    *block
	undo     *undo
	special  bool // more is to be done than to run an operation
}

// computed is a parameter whose value has expressions in it.
type computed struct {
	field int
	name  string
	value value
}

// handler is a resolved Handler.
type handler struct {
	chain    *Def
	pass     bool
	computed value
}

// Plan resolves steps for an input of the type a word names, "" for any. All that is wrong
// is reported, joined, each with its place.
func (s *Set) Plan(steps []Step, in string, o PlanOptions) (*Plan, error) {
	b := planner{set: s, o: o, scope: newScope()}
	b.scope.add(o.Vars...)
	for _, p := range o.Params {
		b.scope.add(p.Name)
	}
	p := &Plan{set: s, trusted: o.Trusted, effect: Pure, out: kindOfWord(o.Output)}
	p.steps = b.steps(steps)
	b.pausing(p)
	for i := range p.steps {
		if p.steps[i].d != nil {
			p.effect = min(p.effect, p.steps[i].effect())
		}
	}
	if len(b.errs) == 0 {
		b.flow(p, in)
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	p.vars = b.scope
	if o.Output == "" {
		p.signature = p.signatureFor(in)
	} else {
		p.signature = []string{words[kindOfWord(in)], words[p.out]}
	}
	name := o.Name
	if name == "" {
		name = "plan"
	}
	p.def = &Def{Op: Op{Name: name, Effect: p.effect, Callers: Anyone}}
	return p, nil
}

// Effect is the widest effect of the steps.
func (p *Plan) Effect() Effect { return p.effect }

// Signature returns what the plan takes and gives, as pairs of type words.
func (p *Plan) Signature() []string { return p.signature }

// Sets returns the variables that the steps set; any reports whether they may set others.
func (p *Plan) Sets() (names []string, any bool) {
	return slices.Sorted(maps.Keys(p.vars.names)), p.vars.open
}

// planner resolves the steps of one plan.
type planner struct {
	set   *Set
	o     PlanOptions
	scope scope
	errs  []error
	n     int       // steps so far, those within others included
	call  *CallStep // of a script, which is checked instead of steps
}

func (b *planner) steps(steps []Step) []step {
	out := make([]step, 0, len(steps))
	for i := range steps {
		b.n++
		if b.o.InScope != nil {
			b.o.InScope(&steps[i], slices.Sorted(maps.Keys(b.scope.names)))
		}
		out = append(out, b.step(steps[i], b.n))
	}
	return out
}

// fail notes what is wrong with a step, or with a part of it.
func (b *planner) fail(st *Step, n int, part string, err error) {
	line, column := st.Line, st.Column
	if p, ok := st.Positions[part]; ok {
		line, column = p.Line, p.Column
	}
	b.failed(st, n, part, line, column, err)
}

// failAt notes what is wrong with a value, so many characters behind its beginning.
func (b *planner) failAt(st *Step, n int, path string, offset int, err error) {
	p, ok := st.Positions[path]
	if !ok || p.Value == nil {
		b.fail(st, n, path, err)
		return
	}
	at := *p.Value
	if at.Start > 0 {
		at.Column = at.Start + offset
	}
	part, _, _ := strings.Cut(path, "/")
	b.failed(st, n, part, at.Line, at.Column, err)
}

func (b *planner) failed(st *Step, n int, part string, line, column int, err error) {
	at := st.Op
	if st.Block != nil {
		at = st.Block.Kind
	}
	if n > 0 { // a call of a script is no step
		at = fmt.Sprintf("step %d: %s", n, at)
	}
	e := fault.Wrap(err, "%s", at)
	e.Kind, e.Line, e.Column = fault.Invalid, line, column
	if part != "" {
		e.Field = part
	}
	b.errs = append(b.errs, e)
}

// step resolves a step: its operation, condition, error handler and parameters. All errors are collected, so that an author sees them at
// once. A plain step, whose parameters are all fixed and which everyone may call, is run without further checks.
func (b *planner) step(s Step, n int) step {
	st := step{Step: s, n: n, special: s.When != "" || s.OnError != nil || s.Retry != nil || s.Block != nil || s.Undo != nil}
	if s.Block == nil {
		d, ok := b.set.Op(s.Op)
		if !ok {
			b.fail(&s, n, "", b.unknown(s.Op))
			return st
		}
		st.d, st.open = d, d.Callers == Anyone
	}
	if s.When != "" {
		program, err := parseExpr(s.When, true)
		if err != nil {
			b.fail(&s, n, "when", err)
		}
		st.when = program
		b.readable(&s, n, "when", program)
	}
	if s.OnError != nil {
		st.handler = b.handler(&s, n)
	}
	if s.Block != nil {
		b.block(&st)
		return st
	}
	b.params(&st)
	if s.Undo != nil {
		b.undo(&st)
	}
	st.plain = st.open && st.given == st.d.table.all && st.computed == nil
	b.sets(&st)
	return st
}

func (b *planner) unknown(name string) error {
	return fault.Invalid.Errorf("unknown operation%s", fault.Perhaps(name, b.set.All())).WithCode(fault.CodeUnknownOperation)
}

func (b *planner) handler(s *Step, n int) *handler {
	h := &handler{pass: s.OnError.Continue}
	if name := s.OnError.Chain; name != "" {
		d, ok := b.set.Op(name)
		if !ok {
			b.fail(s, n, "onError", fault.Wrap(b.unknown(name), "%s", name))
		}
		h.chain = d
		return h
	}
	v, err := compileValue(s.OnError.Result, b.o.Trusted)
	if err != nil {
		b.fail(s, n, "onError", err)
	}
	v.each("onError", func(path string, p *expr.Program) { b.readable(s, n, path, p) })
	h.computed = v
	return h
}

// params decodes what is fixed and compiles what is not.
func (b *planner) params(st *step) {
	t := st.d.table
	c := &Ctx{}
	proto, d := t.start(c)
	for _, name := range slices.Sorted(maps.Keys(st.Params)) {
		v := st.Params[name]
		if v == nil {
			continue
		}
		i, own := t.find([]byte(name))
		switch {
		case i < 0 && b.call != nil && st.d.Open:
		case i < 0:
			b.fail(&st.Step, st.n, name, t.unknown(name))
		case !own && st.Params[t.fields[i].Name] != nil: // an alias beside the name itself
		default:
			st.given |= 1 << i
			b.param(c, st, &d, i, name)
		}
	}
	if t.typ != nil {
		st.proto = proto
	}
	b.value(st)
	b.unmeant(st)
	if b.call != nil && b.call.More {
		return
	}
	if err := t.missing(st.given | b.inherited(t)); err != nil {
		b.fail(&st.Step, st.n, "", err)
	}
}

// param decodes a parameter into the struct of the operation if it is fixed, and compiles it otherwise. A name may be an
// alias.
func (b *planner) param(c *Ctx, st *step, d *decoder, i int, name string) {
	v, f := st.Params[name], &st.d.table.fields[i]
	if b.call != nil && !fixed(v) {
		b.properties(st, f, v)
		return
	}
	val, err := compileValue(v, b.o.Trusted)
	switch {
	case err != nil:
		b.fail(&st.Step, st.n, name, fault.Wrap(err, "parameter %q", name))
	case val.computed():
		st.computed = append(st.computed, computed{i, f.Name, val})
		val.each(name, func(path string, p *expr.Program) { b.readable(&st.Step, st.n, path, p) })
		b.properties(st, f, v)
	case st.d.table.typ != nil:
		if err := d.put(f, v); err != nil {
			b.fail(&st.Step, st.n, name, err)
			return
		}
		b.constant(st, f, name, v)
		b.properties(st, f, v)
	default:
		b.untyped(c, st, f, name)
	}
}

// untyped keeps a fixed value of a parameter that has no field in a struct, such as those of chains and scripts.
func (b *planner) untyped(c *Ctx, st *step, f *field, given string) {
	v := st.Params[given]
	if _, err := c.convert(v, f.kind); err != nil && b.o.Types != nil {
		b.fail(&st.Step, st.n, given, paramError(given, err))
		return
	}
	b.constant(st, f, given, v)
	if st.values == nil {
		st.values = map[string]any{}
	}
	st.values[f.Name] = v
}

// unmeant reports an optional parameter that a step leaves out and that would take the value of a variable, as parameters that are
// left out do, although the author has only named the result of a step like it: a request would send what was meant for another.
func (b *planner) unmeant(st *step) {
	if b.o.Types == nil {
		return
	}
	for i := range st.d.table.fields {
		f := &st.d.table.fields[i]
		by := b.scope.kept[f.Name]
		if by == 0 || f.Required || st.given&(1<<i) != 0 {
			continue
		}
		b.fail(&st.Step, st.n, "", fault.Invalid.Errorf("parameter %q: is left out and would take the variable of this name, which step %d sets; give it, or rename the variable", f.Name, by))
	}
}

// inherited are the parameters of a step, as bits, that have the name of a parameter of the whole plan.
func (b *planner) inherited(t *table) (bits uint64) {
	for i := range t.fields {
		if f := &t.fields[i]; b.scope.names[f.Name] || slices.ContainsFunc(f.Aliases, func(a string) bool { return b.scope.names[a] }) {
			bits |= 1 << i
		}
	}
	return bits
}

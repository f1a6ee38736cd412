package engine

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"catena/engine/expr"
	"catena/storage/fault"
)

// Step is one operation of a chain, as written.
type Step struct {
	Op           string
	Params       map[string]any // strings that are expressions are evaluated in a trusted plan
	As           string         // variable that keeps the result too
	When         string         // expression; unless it is true the input passes on
	OnError      *Handler
	File         string
	Line, Column int
	ParamLines   map[string]int
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
}

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
	b := planner{set: s, o: o, known: map[string]bool{}}
	for _, p := range o.Params {
		b.known[p.Name] = true
	}
	p := &Plan{set: s, trusted: o.Trusted, effect: Pure, out: kindOfWord(o.Output)}
	for i := range steps {
		st := b.step(steps[i], i+1)
		p.steps = append(p.steps, st)
		if st.d != nil {
			p.effect = min(p.effect, st.d.Effect)
		}
		if st.handler != nil && st.handler.chain != nil {
			p.effect = min(p.effect, st.handler.chain.Effect)
		}
	}
	if len(b.errs) == 0 {
		b.flow(p, in)
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	if o.Output == "" {
		p.signature = p.signatureFor(in)
	} else {
		p.signature = []string{words[kindOfWord(in)], words[p.out]}
	}
	name := o.Name
	if name == "" {
		name = "plan"
	}
	p.def = &Def{Op: Op{Name: name, Effect: p.effect}, grants: everyone}
	return p, nil
}

// Effect is the widest effect of the steps.
func (p *Plan) Effect() Effect { return p.effect }

// Signature returns what the plan takes and gives, as pairs of type words.
func (p *Plan) Signature() []string { return p.signature }

// planner resolves the steps of one plan.
type planner struct {
	set   *Set
	o     PlanOptions
	known map[string]bool // names that chain parameters and variables may fill
	errs  []error
}

func (b *planner) fail(st *Step, n int, param string, err error) {
	line, column := st.Line, st.Column
	if l := st.ParamLines[param]; l > 0 {
		line, column = l, 1
	}
	e := fault.Wrap(err, "step %d: %s", n, st.Op)
	e.Kind, e.Line, e.Column = fault.Invalid, line, column
	if param != "" {
		e.Field = param
	}
	b.errs = append(b.errs, e)
}

func (b *planner) step(s Step, n int) step {
	st := step{Step: s, n: n}
	d, ok := b.set.Op(s.Op)
	if !ok {
		b.fail(&s, n, "", b.unknown(s.Op))
		return st
	}
	st.d, st.open = d, d.grants == everyone
	if s.When != "" {
		program, err := parseExpr(s.When, true)
		if err != nil {
			b.fail(&s, n, "when", err)
		}
		st.when = program
	}
	if s.OnError != nil {
		st.handler = b.handler(&s, n)
	}
	b.params(&st)
	st.plain = st.open && st.given == d.table.all && st.computed == nil
	if s.As != "" {
		b.known[s.As] = true
	}
	if name, isText := s.Params["name"].(string); isText && strings.HasPrefix(d.Name, "Context.") {
		b.known[name] = true
	}
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
		if i < 0 {
			b.fail(&st.Step, st.n, name, t.unknown(name))
			continue
		}
		if !own && st.Params[t.fields[i].Name] != nil {
			continue
		}
		st.given |= 1 << i
		val, err := compileValue(v, b.o.Trusted)
		switch {
		case err != nil:
			b.fail(&st.Step, st.n, name, fault.Wrap(err, "parameter %q", name))
		case val.computed():
			st.computed = append(st.computed, computed{i, t.fields[i].Name, val})
		case t.typ != nil:
			if err := d.put(&t.fields[i], v); err != nil {
				b.fail(&st.Step, st.n, name, err)
			}
		default:
			if st.values == nil {
				st.values = map[string]any{}
			}
			st.values[t.fields[i].Name] = v
		}
	}
	if t.typ != nil {
		st.proto = proto
	}
	given := st.given
	for i := range t.fields {
		if f := &t.fields[i]; b.known[f.Name] || slices.ContainsFunc(f.Aliases, func(a string) bool { return b.known[a] }) {
			given |= 1 << i
		}
	}
	if err := t.missing(given); err != nil {
		b.fail(&st.Step, st.n, "", err)
	}
}

// flow checks that each step takes what the one before gives, as far as that is known.
func (b *planner) flow(p *Plan, in string) {
	k := kindOfWord(in)
	for i := range p.steps {
		st := &p.steps[i]
		next, ok := st.flow(k)
		if !ok {
			b.fail(&st.Step, st.n, "", fault.Invalid.Errorf("input: must be of type %s, not %s", st.d.inputs(), words[k]))
			return
		}
		k = next
	}
	if n := len(p.steps); n > 0 && !gives(k, p.out) {
		b.fail(&p.steps[n-1].Step, n, "", fault.Invalid.Errorf("returns %s, but the declared output is %s", words[k], words[p.out]))
	}
}

// gives reports whether a value of one kind can be handed on as another; with kAny on
// either side only the value itself will tell.
func gives(from, to kind) bool {
	return from == kAny || to == kAny || to == kVoid || words[from] == words[to] || fit(from, to) > 1
}

// flow is the kind that a step gives for one it takes; any stands for what is not known.
func (st *step) flow(k kind) (kind, bool) {
	if k == kAny {
		return st.merge(k, st.onlyOutput()), true
	}
	v := st.d.by[k]
	if v == nil {
		return kAny, false
	}
	out := v.out
	switch {
	case out == kVoid:
		out = k
	case v.out == kOther:
		out = kAny
	}
	return st.merge(k, out), true
}

// merge is what is known if a step may be left out or replaced.
func (st *step) merge(in, out kind) kind {
	if out == kRef {
		out = kDoc
	}
	if (st.when != nil || st.handler != nil) && in != out {
		return kAny
	}
	return out
}

// onlyOutput is the output of all functions, any if they differ.
func (st *step) onlyOutput() kind {
	out := st.d.Run.variants[0].out
	for _, v := range st.d.Run.variants {
		if v.out != out {
			return kAny
		}
	}
	if out == kVoid || out == kOther {
		return kAny
	}
	return out
}

// signatureFor walks the steps with the declared input, or with each one the first step takes.
func (p *Plan) signatureFor(in string) []string {
	if len(p.steps) == 0 {
		return []string{"void", "void"}
	}
	starts := []kind{kindOfWord(in)}
	if in == "" {
		starts = starts[:0]
		for _, v := range p.steps[0].d.Run.variants {
			starts = append(starts, v.in)
		}
	}
	var out []string
	for _, start := range starts {
		k, ok := start, true
		for i := range p.steps {
			if k, ok = p.steps[i].flow(k); !ok {
				break
			}
		}
		if ok {
			out = append(out, words[start], words[k])
		}
	}
	return out
}

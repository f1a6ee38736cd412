package engine

import (
	"errors"
	"reflect"

	"catena/storage/fault"
)

// Run carries out the plan in a context. Logins made by its steps end with it.
func (p *Plan) Run(c *Ctx, in any) (any, error) {
	// The transaction was opened for another operation, which was declared to need less than this plan.
	if p.effect != Pure && (c.Tx == nil || p.effect == Writes && !c.Tx.Writable()) {
		return nil, c.capable(p.def)
	}
	entryPoint, height, chain := c.EntryPoint, len(c.logins), c.chain
	c.chain = ""
	// Steps of a stored chain are called as from a chain, regardless of who runs it: rules decide by entry point.
	if p.trusted {
		c.EntryPoint, c.chain = Chain, p.def.Name
	}
	out, err := p.run(c, in)
	if len(c.logins) > height {
		c.restore(height)
	}
	c.EntryPoint, c.chain = entryPoint, chain
	if err != nil {
		// An exit ends this plan only; the chain around it goes on with the result. Rollback, however,
		// concerns the whole call, whose transaction there is one of.
		var x *exit
		if errors.As(err, &x) {
			if x.rollback && c.run != nil {
				c.run.exit = true
			}
			return p.Declared(c, x.out)
		}
		return nil, err
	}
	return p.Declared(c, out)
}

// Declared makes a result what the plan says it gives.
func (p *Plan) Declared(c *Ctx, out any) (any, error) {
	switch k := kindOf(out); {
	case p.out == kAny, k == p.out, out == nil:
		return out, nil
	case p.out == kVoid:
		return nil, nil
	// Several kinds share one word: they are the same for authors, so nothing has to be converted.
	case words[k] == words[p.out]:
		return out, nil
	}
	out, err := c.convert(out, p.out)
	if err != nil {
		return nil, fault.Wrap(err, "output")
	}
	return out, nil
}

func (p *Plan) run(c *Ctx, in any) (any, error) {
	var out any
	var err error
	before := c.resumed
	c.room(len(p.steps))
	if s := c.resume; s != nil && s.Chain == p.def.Name {
		c.resume, c.resumed = nil, s.Run
		out, err = p.goOn(c, s, in)
	} else {
		c.resumed = ""
		out, err = runSteps(c, p.steps, in)
	}
	c.resumed = before
	if r := c.returned; r != nil {
		// A return inside of blocks stops every loop up to the plan, and has no effect on the plan around.
		c.returned = nil
		if err == nil {
			return r.value, nil
		}
	}
	return out, err
}

// runSteps carries out steps one after the other until one ends the chain.
func runSteps(c *Ctx, steps []step, in any) (any, error) {
	for i := range steps {
		st := &steps[i]
		c.Input = in
		if c.trace != nil {
			c.line = st.Line
		}
		var out any
		var err error
		// Nearly all steps have neither a condition nor a handler, block or retry; they skip the checks for
		// these.
		if !st.special {
			out, err = st.run(c, in)
		} else {
			out, err = st.guarded(c, in)
		}
		if err != nil {
			return nil, err
		}
		if st.As != "" {
			c.SetVar(st.As, out)
		}
		if c.returned != nil {
			return out, nil
		}
		in = out
	}
	c.Input = in
	return in, nil
}

// guarded runs a step that has a condition or a handler.
func (st *step) guarded(c *Ctx, in any) (any, error) {
	if st.when != nil {
		v, err := c.eval(st.when)
		if err != nil {
			return nil, st.failed(StageInput, fault.Wrap(err, "when"))
		}
		// Variables that come from requests are text, so the text "true" counts as well.
		if v != true && v != "true" {
			return in, nil
		}
	}
	run := func() (any, error) {
		if st.block != nil {
			return st.block.run(c, st, in)
		}
		if st.undo != nil {
			return st.recorded(c, func() (any, error) { return st.run(c, in) })
		}
		return st.run(c, in)
	}
	if once := run; st.Retry != nil {
		run = func() (any, error) { return st.retried(c, once) }
	}
	if st.handler == nil {
		return run()
	}
	return st.try(c, in, run)
}

// try runs f; what a failed f has written is undone before the handler has its say.
func (st *step) try(c *Ctx, in any, f func() (any, error)) (any, error) {
	var out any
	// A savepoint: the handler must see the state from before the step, not half of its writes.
	err := c.Nest(func() (err error) {
		out, err = f()
		return err
	})
	if err == nil || passing(err) {
		return out, err
	}
	return st.handle(c, in, err)
}

// handle does what the step's handler says about a failure.
func (st *step) handle(c *Ctx, in any, failure error) (any, error) {
	name, cause := root(failure)
	failed{cause.Error(), fault.Of(failure).String(), name}.restore(c)
	c.Input = in
	h := st.handler
	switch {
	case h.chain != nil:
		return c.Call(h.chain.Name, in, nil)
	case h.pass:
		return in, nil
	}
	return h.computed.eval(c)
}

// failureNames are the variables that describe a failure, as handlers of the platform read it.
var failureNames = [...]string{"Exception", "exceptionName", "exceptionOperation"}

// told is what those variables hold.
type failed [len(failureNames)]any

func failureOf(c *Ctx) (t failed) {
	for i, name := range failureNames {
		t[i] = c.Vars[name]
	}
	return t
}

// restore sets the variables, or removes them.
func (t failed) restore(c *Ctx) {
	for i, name := range failureNames {
		if t[i] == nil {
			delete(c.Vars, name)
		} else {
			c.SetVar(name, t[i])
		}
	}
}

// failed names the step in an error.
func (st *step) failed(stage string, err error) error {
	err = st.d.failed(stage, err)
	var e *Error
	if errors.As(err, &e) {
		e.Step = st.n
	}
	return err
}

// run carries out one step.
func (st *step) run(c *Ctx, in any) (any, error) {
	d := st.d
	if err := c.count(); err != nil {
		return nil, st.failed(StageRun, err)
	}
	// The fast path: everything about the step was decided when the plan was made. BenchmarkPlan and a test
	// of allocations keep it at a function call.
	if v := d.direct[kindOf(in)]; v != nil && st.plain && c.trace == nil {
		out, err := v.call(st.proto, c, in)
		if err != nil {
			return nil, st.failed(StageRun, err)
		}
		return out, nil
	}
	// A login earlier in the chain may have changed who acts, so this cannot be decided in advance.
	if !st.open && !d.Callers.allows(c.As, c.EntryPoint) {
		return nil, st.failed(StageInput, fault.Denied.Errorf("not allowed here"))
	}
	k := kindOf(in)
	v := d.by[k]
	if v == nil || k == kList || k == kOther {
		var err error
		if v, err = d.choose(in); err != nil {
			return nil, st.failed(StageInput, err)
		}
	}
	if c.trace != nil || d.direct[k] == nil {
		return st.slow(c, v, in)
	}
	p, err := st.params(c)
	if err != nil {
		return nil, st.failed(StageInput, err)
	}
	out, err := v.call(p, c, in)
	if err != nil {
		return nil, st.failed(StageRun, st.d.table.named(err, p))
	}
	return out, nil
}

// slow runs a step that is traced, or whose input is a list or must be converted.
func (st *step) slow(c *Ctx, v *variant, in any) (any, error) {
	t := c.step(st.d, in, st.Params, nil)
	if t != nil {
		t.Line = st.Line
	}
	var err error
	if v.in != kindOf(in) {
		if in, err = c.adapt(st.d, v, in); err != nil {
			return nil, c.end(t, nil, st.failed(StageInput, err))
		}
		c.Input = in
	}
	var out, p any
	if v.each {
		out, err = c.each(v, in, func() (any, error) {
			p, err = st.params(c)
			return p, err
		})
	} else {
		if p, err = st.params(c); err != nil {
			return nil, c.end(t, nil, st.failed(StageInput, err))
		}
		if st.d.table.typ == nil {
			out, err = st.nested(c, v, p, in)
		} else {
			out, err = v.call(p, c, in)
		}
	}
	if err != nil {
		return nil, c.end(t, nil, st.failed(StageRun, st.d.table.named(err, p)))
	}
	if t != nil {
		_ = c.end(t, out, nil)
	}
	return out, nil
}

// nested runs a step that is itself a chain or a script.
func (st *step) nested(c *Ctx, v *variant, p, in any) (any, error) {
	limit := 32
	if c.run != nil {
		limit = c.run.e.limits.Depth
	}
	if c.depth++; c.depth > limit {
		c.depth--
		return nil, fault.Limit.Errorf("depth: more than %d calls within calls", limit).WithCode(fault.CodeDepth)
	}
	out, err := c.dynamic(v, p, in)
	c.depth--
	return out, err
}

// params returns the parameters of the step: the fixed ones as they are, or a copy with
// what is computed, found in the chain's parameters, or in a variable.
func (st *step) params(c *Ctx) (any, error) {
	t := st.d.table
	if t.typ == nil {
		return st.dynamicParams(c)
	}
	if st.computed == nil {
		// The struct with the fixed values is shared by all runs of the plan, so it is copied before anything
		// is set in it.
		if !st.fed(c) {
			if t.required&^st.given != 0 {
				return nil, t.missing(st.given)
			}
			return st.proto, nil
		}
	}
	p := t.fresh(st.proto)
	d := decoder{c: c, t: t, to: reflect.ValueOf(p).Elem(), set: st.given}
	for i := range st.computed {
		cv := &st.computed[i]
		v, err := cv.value.eval(c)
		if err != nil {
			return nil, paramError(cv.name, err)
		}
		c.evaluated(st.d, cv.name, v)
		// An expression without a value counts as a parameter that was not given: defaults and lookups apply.
		if v == nil {
			d.set &^= 1 << cv.field
			continue
		}
		if err := d.put(&t.fields[cv.field], v); err != nil {
			return nil, err
		}
	}
	return p, d.finish()
}

// fed reports whether a parameter that the step does not give is found elsewhere.
func (st *step) fed(c *Ctx) bool {
	if len(c.Vars) == 0 && len(c.params) == 0 {
		return false
	}
	t := st.d.table
	for i := range t.fields {
		if st.given&(1<<i) == 0 && c.lookup(&t.fields[i]) != nil {
			return true
		}
	}
	return false
}

// dynamicParams returns the parameters of a step that is a chain or a script.
func (st *step) dynamicParams(c *Ctx) (any, error) {
	m := make(map[string]any, len(st.values)+len(st.computed))
	for name, v := range st.values {
		m[name] = v
	}
	for i := range st.computed {
		v, err := st.computed[i].value.eval(c)
		if err != nil {
			return nil, paramError(st.computed[i].name, err)
		}
		c.evaluated(st.d, st.computed[i].name, v)
		m[st.computed[i].name] = v
	}
	return st.d.table.fromMap(c, m)
}

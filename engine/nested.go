package engine

import (
	"context"
	"errors"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/trace"
)

// RunFunc carries out fn as Run does an operation with an effect; the call's Op is only a name for it.
func (e *Engine) RunFunc(ctx context.Context, effect Effect, fn func(c *Ctx) (any, error), call Call) (*Result, error) {
	r := idle.Get().(*running)
	r.e, r.set, r.args, r.fn = e, e.set.Load(), call, fn
	r.def = &Def{Op: Op{Name: call.Op, Effect: effect, Open: true, Callers: Anyone}}
	r.begin(ctx)
	return r.carryOut()
}

// Carry carries out a call within this one: in its transaction and within its limits, with variables and logins of its
// own, for the principal that acts here. Of the call the operation, its input, parameters and variables count, and what encodes
// its result. One that asks for a dry run is refused, for this call as a whole is one or none.
func (c *Ctx) Carry(call *Call) (*Result, error) {
	d, ok := c.run.set.Op(call.Op)
	switch {
	case !ok || !d.Callers.allows(c.As, c.EntryPoint):
		return nil, c.run.set.Missing(call.Op, c.As, c.EntryPoint)
	case call.DryRun:
		return nil, fault.Invalid.Errorf("dryRun: must apply to all calls or none").In("dryRun")
	}
	if err := c.capable(d); err != nil {
		return nil, err
	}
	sub := c.Sub(true)
	sub.Vars, sub.Input = nil, nil
	defer sub.restore(0)
	in, err := sub.resolve(call)
	if err != nil {
		return nil, d.failed(StageInput, err)
	}
	out, err := sub.invoke(d, in, call.Params, call.RawParams)
	sub.restore(0)
	if err != nil {
		var x *exit
		switch {
		case !errors.As(err, &x):
			return nil, err
		case x.rollback:
			return nil, fault.Conflict.Errorf("operation %s: was rolled back", d.Name)
		}
		out = x.out
	}
	res := &Result{Value: out, Input: in, Void: out == nil, Attempts: 1}
	if call.Encode != nil {
		sub.Input = out
		if res.Body, err = call.Encode(sub, out); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// runningKey finds the call that a transaction belongs to in the transaction's context.
type runningKey struct{}

// Value returns the call itself, the trace it belongs to, what its transactions have found out, or what the caller's context holds.
func (d *deadline) Value(key any) any {
	if d.run != nil {
		switch key.(type) {
		case runningKey:
			return d.run
		case trace.Key:
			return d.run.distributed()
		case storage.FindingsKey:
			return &d.run.found
		}
	}
	return d.Context.Value(key)
}

// Within calls fn with a context for a transaction that is under way: as part of the call the transaction
// belongs to, sharing its limits and its trace under the name given, or else as a call of its own. It
// is how what happens in storage runs operations.
func (e *Engine) Within(tx *storage.Tx, as *Principal, entryPoint EntryPoint, name string, fn func(c *Ctx) error) error {
	if r, ok := tx.Context().Value(runningKey{}).(*running); ok && r.e == e {
		return r.within(tx, as, entryPoint, name, fn)
	}
	call := Call{Op: name, As: as, EntryPoint: entryPoint}
	r := &running{e: e, set: e.set.Load(), def: &Def{Op: Op{Name: name, Callers: Anyone}}, args: call, began: time.Now()}
	r.call = &r.args
	r.end.Context, r.end.at, r.end.run = tx.Context(), r.began.Add(e.limits.Time), r
	defer r.end.stop()
	if err := r.within(tx, as, entryPoint, name, fn); err != nil {
		return r.end.overdue(err, e.limits.Time)
	}
	tx.AfterCommit(func() { r.runAfter(context.WithoutCancel(tx.Context())) })
	return nil
}

// workTime bounds the work of the server, which mostly ends otherwise.
const workTime = 24 * time.Hour

// Work carries out fn in a transaction of the server's own, as a call of its own under the name in call: what
// happens in the transaction belongs to it. Of the call, who acts and for whom, the entry point, the name, the version and what was asked count. The time
// of a call is for what it runs Within: the transaction itself has as long as ctx gives it.
func (e *Engine) Work(ctx context.Context, call Call, effect Effect, fn func(tx *storage.Tx) error) (err error) {
	r := &running{e: e, set: e.set.Load(), def: &Def{Op: Op{Name: call.Op, Version: call.Version, Effect: effect, Callers: Anyone}}, args: call}
	r.whole = &deadline{Context: ctx, at: time.Now().Add(workTime), run: r}
	r.begin(ctx)
	defer func() { r.finish(err) }()
	begin := e.repo.Update
	if effect == Reads {
		begin = e.repo.View
	}
	r.recording = r.records()
	err = r.rounds(&r.outer, func() error {
		return begin(r.whole, e.System(), func(tx *storage.Tx) error {
			r.after, r.ops, r.root, r.steps, r.printed = nil, 0, nil, 0, 0
			r.leave()
			r.outer.begin()
			r.beginTrace()
			return r.outer.abandoned(fn(tx))
		})
	})
	r.settle()
	if err != nil {
		err = r.reason(err)
		e.traceFailure(r, err)
		e.keepFailure(r, err)
		return err
	}
	r.runAfter(ctx)
	e.traceDone(r)
	r.record()
	return nil
}

func (r *running) within(tx *storage.Tx, as *Principal, entryPoint EntryPoint, name string, fn func(c *Ctx) error) (err error) {
	c := &Ctx{
		Context: &r.end, Tx: tx.As(as), As: as, Now: tx.Now(),
		Log: r.e.log, EntryPoint: entryPoint, run: r, trace: r.root.open(),
	}
	if c.trace != nil {
		t := &Trace{Op: name, Start: time.Now(), User: as.Name, up: c.trace}
		c.trace.Steps = append(c.trace.Steps, t)
		c.trace = t
		defer func() { _ = c.end(t, nil, err) }()
	}
	defer c.restore(0)
	return fn(c)
}

// open is the innermost operation that has not ended; nil if nothing is recorded.
func (t *Trace) open() *Trace {
	for t != nil && len(t.Steps) > 0 && t.Steps[len(t.Steps)-1].Duration == 0 {
		t = t.Steps[len(t.Steps)-1]
	}
	return t
}

// Guard runs f so that a failure undoes what it has written, and then does what the handler
// says instead. Limits of the call and cancellation are not handled.
func (c *Ctx) Guard(h *Handler, in any, f func() (any, error)) (any, error) {
	st := &step{handler: &handler{pass: h.Continue}}
	if h.Chain != "" {
		d, ok := c.Set().Op(h.Chain)
		if !ok {
			return nil, c.Set().Missing(h.Chain, c.As, c.EntryPoint)
		}
		st.handler.chain = d
	} else {
		v, err := compileValue(h.Result, true)
		if err != nil {
			return nil, fault.Wrap(err, "onError")
		}
		st.handler.computed = v
	}
	return st.try(c, in, f)
}

// Nest runs f so that a failure undoes all that f did: what it wrote, what it wanted done
// after the commit, and its logins.
func (c *Ctx) Nest(f func() error) error {
	height, after := len(c.logins), 0
	if c.turn != nil { // nothing is written in a branch of a parallel step, and others go on meanwhile
		err := f()
		if err != nil {
			c.restore(height)
		}
		return err
	}
	if c.run != nil {
		after = len(c.run.after)
	}
	var err error
	if c.Tx != nil && c.Tx.Writable() {
		err = c.Tx.Nest(f)
	} else {
		err = f()
	}
	if err == nil {
		return nil
	}
	c.restore(height)
	if c.run != nil {
		c.run.after = c.run.after[:after]
	}
	return err
}

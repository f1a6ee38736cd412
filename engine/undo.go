package engine

import (
	"context"
	"strings"

	"catena/storage/fault"
)

// Undo is what makes up for a step that had an effect outside of the server, should the call fail after it: an operation,
// which gets what the step gave.
type Undo struct {
	Op     string
	Params map[string]any
	Input  any
	Line   int
}

// Keeper keeps what outlasts a call.
type Keeper interface {
	// Suspend keeps a chain that waits, and returns the run as its caller gets it.
	Suspend(c *Ctx, s *Suspension) (any, error)
	// Record keeps, whatever becomes of the call, what undoes a step, the nth one of the attempt, from 0 on. The transaction of the
	// call, should it be committed with what the step has done, notes that this is not to be undone.
	Record(c *Ctx, attempt string, n int, u *Undo) error
	// Settle has what is still kept of an attempt that has ended be done.
	Settle(ctx context.Context, e *Engine, attempt string) error
}

// undo is a resolved Undo.
type undo struct {
	op     string
	params value
	line   int
}

// undo resolves what undoes a step.
func (b *planner) undo(st *step) {
	src := st.Undo
	d, ok := b.set.Op(src.Op)
	if !ok {
		b.fail(&st.Step, st.n, "undo", fault.Wrap(b.unknown(src.Op), "%s", src.Op))
		return
	}
	b.undoing(st, d)
	params, _ := compileValue(src.Params, b.o.Trusted) // what is wrong with it has been reported
	st.undo = &undo{op: d.Name, params: params, line: src.Line}
}

// undoing checks the parameters of what undoes a step as those of a step, but for that it runs when the variables are gone.
func (b *planner) undoing(st *step, d *Def) {
	own := Step{Op: st.Undo.Op, Params: st.Undo.Params, File: st.File, Line: st.Undo.Line, Positions: map[string]Position{}}
	for path, at := range st.Positions {
		if name, ok := strings.CutPrefix(path, "undo/params/"); ok {
			own.Positions[name] = at
		}
	}
	kept, before := b.scope.kept, len(b.errs)
	b.scope.kept = nil // no parameter that is left out takes one
	inner := step{Step: own, n: st.n, d: d}
	b.params(&inner)
	b.scope.kept = kept
	if err := d.table.missing(inner.given); err != nil && len(b.errs) == before {
		b.fail(&own, st.n, "", err)
	}
}

// recorded runs a step and has what undoes it kept.
func (st *step) recorded(c *Ctx, run func() (any, error)) (any, error) {
	out, err := run()
	if err != nil || c.DryRun() {
		return out, err
	}
	keeper := c.Engine().keeper
	if keeper == nil {
		return nil, st.failed(StageInput, fault.Invalid.Errorf("undo: nothing is kept here"))
	}
	r := c.run
	if r.attemptID == "" {
		r.attemptID = r.e.newID()
	}
	before := c.Input
	c.Input = out
	params, err := st.undo.params.eval(c)
	c.Input = before
	if err != nil {
		return nil, st.failed(StageRun, fault.Wrap(err, "undo"))
	}
	u := &Undo{Op: st.undo.op, Input: out, Line: st.undo.line}
	u.Params, _ = params.(map[string]any)
	if err := keeper.Record(c, r.attemptID, r.undoable, u); err != nil {
		return nil, st.failed(StageRun, fault.Wrap(err, "undo"))
	}
	r.undoable++
	return out, nil
}

// leave ends an attempt, which may have left something to be undone. It may be called while the transaction of the next one is open.
func (r *running) leave() {
	if r.attemptID != "" {
		r.left = append(r.left, r.attemptID)
		r.attemptID, r.undoable = "", 0
	}
}

// settle has what attempts that have ended have left to be undone be done. No transaction of the call is open: it would conflict with
// those in which this is noted.
func (r *running) settle() {
	r.leave()
	for _, id := range r.left {
		if err := r.e.keeper.Settle(context.WithoutCancel(r.end.Context), r.e, id); err != nil { // a job that is due later does it
			r.e.log.Warn("undo", "operation", r.def.Name, "error", err)
		}
	}
	r.left = nil
}

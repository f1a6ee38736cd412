package engine

import (
	"context"
	"errors"

	"catena/storage/fault"
)

// RunFunc carries out fn as Run does an operation with an effect; the call's Op is only a name for it.
func (e *Engine) RunFunc(ctx context.Context, effect Effect, fn func(c *Ctx) (any, error), call Call) (*Result, error) {
	r := idle.Get().(*running)
	r.e, r.set, r.args, r.fn = e, e.set.Load(), call, fn
	r.def = &Def{Op: Op{Name: call.Op, Effect: effect, Open: true}, grants: everyone}
	r.begin(ctx)
	return r.carryOut()
}

// Carry carries out a call within this one: in its transaction and within its limits, with variables and logins of its
// own, for whoever acts here. Of the call the operation, its input, parameters and variables count, and what encodes
// its result. One that asks for a dry run is refused, for this call as a whole is one or none.
func (c *Ctx) Carry(call *Call) (*Result, error) {
	d, ok := c.run.set.Op(call.Op)
	switch {
	case !ok || !d.grants.allows(c.As, c.Door):
		return nil, c.run.set.Missing(call.Op, c.As, c.Door)
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

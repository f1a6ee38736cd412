package control

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// maxTimeout is the longest time an inner run may ask for, in seconds. Longer values are mistakes, in
// milliseconds for example. Without newTx the call's own time bounds the run as well.
const maxTimeout = 24 * 60 * 60

// inner is one run of another operation within the call. The operation is checked for the caller and the
// entry point by engine.Ctx.Call: running it from here gives no more rights than calling it.
type inner struct {
	id       string
	params   storage.Props
	isolate  bool // works on a copy of the variables
	apart    bool // in a transaction of its own
	tolerant bool // a failure is logged and gives nothing
	timeout  int  // seconds; 0: the call's own
	check    func(out any) error
}

// run carries the operation out on an input. Without a transaction of its own a failure is the caller's.
func (r inner) run(c *engine.Ctx, in any) (any, error) {
	if err := r.timely(); err != nil {
		return nil, err
	}
	if r.apart {
		outs, err := c.Apart(r.part(in, nil, ""))
		if err != nil {
			return nil, r.overdue(c, err)
		}
		return outs[0], nil
	}
	sub := c.Sub(r.isolate)
	if limit := r.limit(c); limit > 0 {
		ctx, cancel := context.WithTimeout(c.Context, limit)
		defer cancel()
		sub.Context = ctx
	}
	out, err := r.once(sub, in)
	return out, r.overdue(c, err)
}

// part is the run in transactions of its own, one for each item, which is in a variable or else is the input.
func (r inner) part(in any, items []any, variable string) engine.Part {
	return engine.Part{
		Op: r.id, Params: r.params, Input: in, Items: items, Isolate: r.isolate, Timeout: time.Duration(r.timeout) * time.Second,
		Run: func(c *engine.Ctx, in, item any) (any, error) {
			switch {
			case variable != "":
				c.SetVar(variable, item)
			case items != nil:
				in = item
			}
			return r.once(c, in)
		},
		Tolerate: func(c *engine.Ctx, err error) bool {
			if !r.tolerant || fatal(c, err) {
				return false
			}
			// The failure reaches nobody else, so the log is the only place where an operator can
			// find it.
			c.Log.LogAttrs(c, slog.LevelWarn, "inner run failed", slog.String("operation", r.id), slog.String("error", err.Error()))
			return true
		},
	}
}

func (r inner) timely() error {
	if r.timeout < 0 || r.timeout > maxTimeout {
		return fault.Invalid.Errorf("timeout: %d is not between 0 and %d seconds", r.timeout, maxTimeout).In("timeout")
	}
	return nil
}

// limit is the time of the run if it is less than what any call has.
func (r inner) limit(c *engine.Ctx) time.Duration {
	if limit := time.Duration(r.timeout) * time.Second; limit < c.Engine().Limits().Time {
		return limit
	}
	return 0
}

func (r inner) once(c *engine.Ctx, in any) (any, error) {
	out, err := c.Call(r.id, in, r.params)
	// The check is a part of the run, so that a result of the wrong type undoes the changes of a
	// separate transaction, too.
	if err == nil && r.check != nil && out != nil {
		err = r.check(out)
	}
	return out, err
}

// overdue names the limit if the run, and not the whole call, took too long. If the whole call is at its
// end, its own error is the one to report.
func (r inner) overdue(c *engine.Ctx, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && c.Err() == nil {
		return fault.Limit.Errorf("operation %s: took longer than %d s", r.id, r.timeout).WithCode(fault.CodeTimeout).In("timeout")
	}
	return err
}

// fatal reports whether a failure is none that the rest of the call could go on after: the
// call's own end, a bug, damaged data.
func fatal(c *engine.Ctx, err error) bool {
	return c.Err() != nil || fault.Is(err, fault.Internal)
}

// refresh reads the documents in variables again, save those with changes not saved yet.
// One that is gone or hidden now stays as it was. An inner run may have saved a document that a variable
// still holds in its earlier state; saving that one later would conflict with what the same call has
// written.
func refresh(c *engine.Ctx) {
	for name, v := range c.Vars {
		d, ok := v.(*storage.Doc)
		if !ok || d == nil || !d.Saved() || d.Dirty() {
			continue
		}
		if fresh, err := c.Tx.Reload(d); err == nil {
			c.Vars[name] = fresh
		}
	}
}

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

// maxTimeout is the longest time an inner run may ask for, in seconds.
const maxTimeout = 24 * 60 * 60

// inner is one run of another operation within the call.
type inner struct {
	id       string
	params   storage.Props
	isolate  bool // works on a copy of the variables
	nested   bool // in a savepoint
	tolerant bool // a failure is logged and gives nothing
	timeout  int  // seconds; 0: the call's own
}

// run carries the operation out on an input. Without savepoint a failure is the caller's.
func (r inner) run(c *engine.Ctx, in any) (any, error) {
	sub := c.Sub(r.isolate)
	if r.timeout < 0 || r.timeout > maxTimeout {
		return nil, fault.Invalid.Errorf("timeout: %d is not between 0 and %d seconds", r.timeout, maxTimeout).In("timeout")
	}
	if limit := time.Duration(r.timeout) * time.Second; limit > 0 && limit < c.Engine().Limits().Time {
		ctx, cancel := context.WithTimeout(c.Context, limit)
		defer cancel()
		sub.Context = ctx
	}
	if !r.nested {
		out, err := sub.Call(r.id, in, r.params)
		return out, r.overdue(c, err)
	}
	var out any
	err := sub.Nest(func() (err error) {
		out, err = sub.Call(r.id, in, r.params)
		return r.overdue(c, err)
	})
	if err == nil || !r.tolerant || fatal(c, err) {
		return out, err
	}
	c.Log.LogAttrs(c, slog.LevelWarn, "inner run failed", slog.String("operation", r.id), slog.String("error", err.Error()))
	return nil, nil
}

// overdue names the limit if the run, and not the whole call, took too long.
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
// One that is gone or hidden now stays as it was.
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

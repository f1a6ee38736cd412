package engine

import "catena/storage/fault"

// Guard runs f so that a failure undoes what it has written, and then does what the handler
// says instead. Limits of the call and cancellation are not handled.
func (c *Ctx) Guard(h *Handler, in any, f func() (any, error)) (any, error) {
	st := &step{handler: &handler{pass: h.Continue}}
	if h.Chain != "" {
		d, ok := c.Set().Op(h.Chain)
		if !ok {
			return nil, c.Set().Missing(h.Chain, c.As, c.Door)
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

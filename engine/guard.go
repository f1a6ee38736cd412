package engine

import "catena/storage/fault"

// Guard runs f so that a failure undoes what it has written, and then does what the handler
// says instead. Limits of the call and cancellation are not handled.
func (c *Ctx) Guard(h *Handler, in any, f func() (any, error)) (any, error) {
	st := &step{handler: &handler{pass: h.Continue}}
	if h.Chain != "" {
		d, ok := c.Set().Op(h.Chain)
		if !ok {
			return nil, unknownOp(h.Chain)
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

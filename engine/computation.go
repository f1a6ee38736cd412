package engine

import (
	"catena/storage"
	"catena/storage/fault"
)

// longSteps is how many steps an evaluation has before it counts as long: some milliseconds.
const longSteps = 100_000

// computation is the evaluation of an expression or a template. A long one takes one of the slots of the user on whose
// behalf the call runs.
type computation struct {
	c    *Ctx
	user string
	slot bool // taken
}

// goOn returns why a computation that has taken some steps must end: the call has ended, or no slot is free for it.
func (p *computation) goOn(steps int) error {
	c := p.c
	if c.Context == nil {
		return nil
	}
	if steps < longSteps || p.slot || c.Engine() == nil {
		return c.Err()
	}
	p.user = storage.OwnedBy(c.As).Owner
	if err := c.Engine().computing.Acquire(c, p.user); err != nil {
		if c.Err() != nil {
			return err
		}
		return fault.Unavailable.Errorf("computation: %w", err).WithCode(fault.CodeComputationBusy)
	}
	p.slot = true
	return c.Err()
}

// end gives the slot back.
func (p *computation) end() {
	if p.slot {
		p.c.Engine().computing.Release(p.user)
	}
}

package rest

import (
	"context"
	"errors"

	"catena/engine"
	"catena/storage"
)

// remembered is the context of a sign-in that may rest on what is remembered of the caller: the operation of the request is going to
// write, so that its transaction finds out in the same round trip as what it reads whether that still holds.
func (x *Request) remembered(ctx context.Context) context.Context {
	if x.recall = x.Route.Proves && !x.proves; x.recall {
		return storage.Remembering(ctx)
	}
	return ctx
}

// Prove signs the caller in once more if only what is remembered says who that is.
func (x *Request) Prove() error {
	if !x.recall {
		return nil
	}
	x.recall, x.proves = false, true
	return x.admit()
}

// carryOut runs a call; once more, if nothing of it was carried out since what was remembered of the caller no longer holds.
func (x *Request) carryOut(call engine.Call, re Reply) (*engine.Result, error) {
	if re.run == nil {
		re.run = func(call engine.Call) (*engine.Result, error) { return x.Engine.Run(x.calling(), call) }
	}
	res, err := re.run(call)
	var refused engine.NotBegun
	if x.recall && errors.As(err, &refused) {
		res, err = x.rerun(call, re)
	}
	x.recall = x.recall && err != nil // the transaction of a call that went well has looked
	return res, err
}

// rerun carries a call out again that was refused before it began, since what was remembered of the caller no longer holds: another
// server has changed something, such as the password into the one that was sent.
func (x *Request) rerun(call engine.Call, re Reply) (*engine.Result, error) {
	was := x.As
	if err := x.Prove(); err != nil {
		return nil, err
	}
	if x.As == was || call.As != was {
		return nil, storage.ErrEnded
	}
	call.As = x.As
	return re.run(call)
}

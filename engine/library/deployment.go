package library

import (
	"context"
	"errors"

	"catena/engine"
	"catena/storage/fault"
)

// Deployment is one kind of what is deployed on an engine while it runs: its chains, for example.
type Deployment interface {
	// Ops are the operations that manage it.
	Ops() []engine.Op
	// Load deploys what is kept, at start.
	Load(ctx context.Context, e *engine.Engine) error
	// Refresh follows what other servers deploy in the same store.
	Refresh(ctx context.Context, e *engine.Engine) error
}

// Deployments are all that one engine has. What others name is in front: chains call scripts, listeners call both.
type Deployments []Deployment

// Ops are the operations of all.
func (ds Deployments) Ops() (all []engine.Op) {
	for _, d := range ds {
		all = append(all, d.Ops()...)
	}
	return all
}

// Load loads all. What cannot be deployed is left out and returned as one error.
func (ds Deployments) Load(ctx context.Context, e *engine.Engine) error {
	return ds.each(func(d Deployment) error { return d.Load(ctx, e) })
}

// Refresh deploys what other servers have deployed, and withdraws what they have withdrawn.
func (ds Deployments) Refresh(ctx context.Context, e *engine.Engine) error {
	return ds.each(func(d Deployment) error { return d.Refresh(ctx, e) })
}

func (ds Deployments) each(do func(Deployment) error) error {
	errs := make([]error, len(ds))
	for i, d := range ds {
		errs[i] = do(d)
	}
	return errors.Join(errs...)
}

// Status fails, and names the texts, if something that is deployed does not work on this server.
func (ds Deployments) Status(e *engine.Engine) error {
	if lacks := ds.Lacks(e); len(lacks) > 0 {
		return fault.Unavailable.New(listed(texts(lacks)))
	}
	return nil
}

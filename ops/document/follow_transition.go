package document

import (
	"catena/engine"
	"catena/storage"
)

var followTransition = engine.Op{
	Name:     "Document.FollowLifecycleTransition",
	Aliases:  []string{"Document.SetLifeCycle"},
	Label:    "Follow Life Cycle Transition",
	Category: "Document",
	Doc:      "Moves the document to another life-cycle state and returns it. The transitions delete and undelete move it to the trash and back.",
	Callers:  engine.Anyone,
	Run:      engine.Each(followTransitionParams.run),
}

type followTransitionParams struct {
	Value string `json:"value" names:"transition" doc:"Name of the transition, for example approve."`
}

func (p followTransitionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// Whether the state has the transition, and whether the caller may follow it, is for storage to
	// check.
	return c.Tx.Follow(d, p.Value)
}

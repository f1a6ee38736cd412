package resource

import (
	"catena/engine"
	"catena/storage/people"
)

var me = engine.Op{
	Name:     "User.Me",
	Label:    "Current User",
	Category: "Users & Groups",
	Doc:      "Returns the user who is signed in.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(meParams.run),
}

type meParams struct{}

func (meParams) run(c *engine.Ctx, _ engine.Void) (*people.User, error) {
	// The server itself is not stored as a user: for it the answer is NotFound.
	return people.Lookup(c.Tx, c.As.Name)
}

package resource

import (
	"catena/engine"
	"catena/storage"
)

var me = engine.Op{
	Name:     "User.Me",
	Label:    "Current User",
	Category: "Users & Groups",
	Doc:      "Returns the user who is signed in.",
	Effect:   engine.Reads,
	Run:      engine.On(meParams.run),
}

type meParams struct{}

func (meParams) run(c *engine.Ctx, _ engine.Void) (*storage.User, error) {
	return c.Tx.User(c.As.Name)
}

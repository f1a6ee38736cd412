package resource

import (
	"catena/engine"
	"catena/storage/people"
)

var readUser = engine.Op{
	Name:     "User.Read",
	Label:    "User",
	Category: "Users & Groups",
	Doc:      "Returns a user by name.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(readUserParams.run),
}

type readUserParams struct {
	Name string `json:"name" doc:"Name of the user."`
}

func (p readUserParams) run(c *engine.Ctx, _ engine.Void) (*people.User, error) {
	// Every user may read every other. What is shown of whom is decided where the entity is
	// written.
	return people.LookupNamed(c.Tx, p.Name)
}

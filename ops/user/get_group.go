package user

import (
	"catena/engine"
	"catena/storage/people"
)

var getGroup = engine.Op{
	Name:     "Group.Get",
	Label:    "Group Entity",
	Category: "Users & Groups",
	Doc:      "Returns a group; its members are included when they are fetched.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(getGroupParams.run),
}

type getGroupParams struct {
	Name string `json:"name" doc:"Name of the group."`
}

// Every user may read every group: people are chosen by group in many forms.
func (p getGroupParams) run(c *engine.Ctx, _ engine.Void) (*people.Group, error) {
	return people.LookupGroup(c.Tx, p.Name)
}

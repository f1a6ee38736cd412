package user

import (
	"catena/engine"
	"catena/storage/people"
)

var readGroup = engine.Op{
	Name:     "Group.Read",
	Label:    "Group",
	Category: "Users & Groups",
	Doc:      "Returns a group with its direct members.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   groupResult,
	Run:      engine.On(readGroupParams.run),
}

type readGroupParams struct {
	Name string `json:"groupname" doc:"Name of the group."`
}

func (p readGroupParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	g, err := people.LookupGroup(c.Tx, p.Name)
	if err != nil {
		return nil, err
	}
	return groupObject(g), nil
}

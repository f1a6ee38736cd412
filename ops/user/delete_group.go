package user

import (
	"cmp"

	"catena/engine"
	"catena/engine/workflow"
	"catena/storage/people"
)

var deleteGroup = engine.Op{
	Name:     "Group.Delete",
	Label:    "Delete Group",
	Category: "Users & Groups",
	Doc:      "Deletes a group and returns the input. Its members are kept, and its open tasks are reassigned to the administrators.",
	Callers:  engine.Anyone,
	Run:      engine.On(deleteGroupParams.run),
}

type deleteGroupParams struct {
	Name string `json:"groupname" doc:"Name of the group."`
}

func (p deleteGroupParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// Both calls share the transaction, so no task is left waiting for a group that is gone.
	return engine.Void{}, cmp.Or(people.DeleteGroup(c.Tx, p.Name), workflow.EndGroup(c.Tx, p.Name))
}

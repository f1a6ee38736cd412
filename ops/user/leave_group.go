package user

import (
	"slices"

	"catena/engine"
	"catena/storage/people"
)

var leaveGroup = engine.Op{
	Name:     "User.RemoveFromGroup",
	Label:    "Remove User from Group",
	Category: "Users & Groups",
	Doc:      "Removes a user from a group and returns the user. For administrators, and for power users unless administrators are affected.",
	Callers:  engine.Anyone,
	Run:      engine.On(leaveGroupParams.run),
}

type leaveGroupParams struct {
	Name  string `json:"name" doc:"Name of the user."`
	Group string `json:"group" doc:"Name of the group."`
}

func (p leaveGroupParams) run(c *engine.Ctx, _ engine.Void) (*people.User, error) {
	u, err := member(c, p.Name, p.Group)
	if err != nil {
		return nil, err
	}
	// Not being in the group is a success as well.
	u.Groups = slices.DeleteFunc(u.Groups, func(name string) bool { return name == p.Group })
	if err := people.SaveUser(c.Tx, u, ""); err != nil {
		return nil, err
	}
	return people.Lookup(c.Tx, p.Name)
}

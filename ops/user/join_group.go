package user

import (
	"slices"

	"catena/engine"
	"catena/storage/people"
)

var joinGroup = engine.Op{
	Name:     "User.AddToGroup",
	Label:    "Add User to Group",
	Category: "Users & Groups",
	Doc:      "Adds a user to a group and returns the user. For administrators, and for power users unless administrators are affected.",
	Callers:  engine.Anyone,
	Run:      engine.On(joinGroupParams.run),
}

type joinGroupParams struct {
	Name  string `json:"name" doc:"Name of the user."`
	Group string `json:"group" doc:"Name of the group."`
}

func (p joinGroupParams) run(c *engine.Ctx, _ engine.Void) (*people.User, error) {
	u, err := member(c, p.Name, p.Group)
	// Being in the group already is a success, so a client can repeat the call.
	if err != nil || slices.Contains(u.Groups, p.Group) {
		return u, err
	}
	u.Groups = append(u.Groups, p.Group)
	if err := people.SaveUser(c.Tx, u, ""); err != nil {
		return nil, err
	}
	return people.Lookup(c.Tx, p.Name)
}

// member returns a user, provided that the group exists and the caller looks after users.
// Storage accepts only groups that exist, but with a fault of kind Denied; here the address names
// the group, so it is NotFound.
func member(c *engine.Ctx, name, group string) (*people.User, error) {
	if err := mayEdit(c); err != nil {
		return nil, err
	}
	if _, err := people.LookupGroup(c.Tx, group); err != nil {
		return nil, err
	}
	return people.LookupNamed(c.Tx, name)
}

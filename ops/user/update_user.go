package user

import (
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

var updateUser = engine.Op{
	Name:     "User.Update",
	Label:    "Update User",
	Category: "Users & Groups",
	Doc:      "Changes the given properties of a user and returns the user. For administrators, and for power users unless administrators are affected.",
	Callers:  engine.Anyone,
	Run:      engine.On(updateUserParams.run),
}

type updateUserParams struct {
	Name string         `json:"name" doc:"Name of the user."`
	User map[string]any `json:"user" type:"object" doc:"The user, with the changed properties."`
}

func (p updateUserParams) run(c *engine.Ctx, _ engine.Void) (*people.User, error) {
	// Users may not change their own entity here, although storage would let them, except for
	// groups and account.
	if err := mayEdit(c); err != nil {
		return nil, err
	}
	u, err := people.LookupNamed(c.Tx, p.Name)
	if err != nil {
		return nil, err
	}
	if name := userName(p.User); name != "" && name != p.Name {
		return nil, fault.Invalid.Errorf("user %s: cannot be renamed to %s", p.Name, name).In("username")
	}
	password, err := setUser(c, u, p.User)
	if err != nil {
		return nil, err
	}
	if err := people.SaveUser(c.Tx, u, password); err != nil {
		return nil, err
	}
	return people.Lookup(c.Tx, p.Name)
}

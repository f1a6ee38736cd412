package user

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var updateUser = engine.Op{
	Name:     "User.Update",
	Label:    "Update User",
	Category: "Users & Groups",
	Doc:      "Changes the given properties of a user and returns the user. For administrators, and for power users unless administrators are affected.",
	Run:      engine.On(updateUserParams.run),
}

type updateUserParams struct {
	Name string         `json:"name" doc:"Name of the user."`
	User map[string]any `json:"user" type:"object" doc:"The user, with the changed properties."`
}

func (p updateUserParams) run(c *engine.Ctx, _ engine.Void) (*storage.User, error) {
	if err := mayEdit(c); err != nil {
		return nil, err
	}
	u, err := c.Tx.User(p.Name)
	if err != nil {
		return nil, err
	}
	if name := userName(p.User); name != "" && name != p.Name {
		return nil, fault.Invalid.Errorf("user %s: cannot be renamed to %s", p.Name, name).In("username")
	}
	password, err := setUser(u, p.User)
	if err != nil {
		return nil, err
	}
	if err := c.Tx.SaveUser(u, password); err != nil {
		return nil, err
	}
	return c.Tx.User(p.Name)
}

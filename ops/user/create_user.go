package user

import (
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

var createUser = engine.Op{
	Name:     "User.Create",
	Label:    "Create User",
	Category: "Users & Groups",
	Doc:      "Creates a user from an entity and returns it. For administrators, and for power users unless administrators are affected.",
	Callers:  engine.Anyone,
	Run:      engine.On(createUserParams.run),
}

type createUserParams struct {
	User map[string]any `json:"user" type:"object" blamed:"name=username" doc:"The user, with username, password, groups and other properties."`
}

func (p createUserParams) run(c *engine.Ctx, _ engine.Void) (*people.User, error) {
	// Checked before the lookup, so that other callers do not learn which names are taken. The
	// message is the platform's.
	if !manages(c.As) {
		return nil, fault.Denied.Errorf("Cannot create artifact")
	}
	name := userName(p.User)
	if _, err := people.Lookup(c.Tx, name); !fault.Is(err, fault.NotFound) {
		if err == nil {
			err = fault.Exists.Errorf("User already exists")
		}
		return nil, err
	}
	u := &people.User{Username: name}
	// Without a password the user exists but cannot sign in by one.
	password, err := setUser(c, u, p.User)
	if err != nil {
		return nil, err
	}
	if err := people.SaveUser(c.Tx, u, password); err != nil {
		return nil, err
	}
	return people.Lookup(c.Tx, name)
}

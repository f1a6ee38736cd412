package user

import (
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

var getUser = engine.Op{
	Name:     "User.Get",
	Aliases:  []string{"NuxeoPrincipal.Get"},
	Label:    "Get Nuxeo Principal",
	Category: "Users & Groups",
	Doc:      "Returns a user, by default the caller. Only administrators and power users may read other users. Returns nothing if the user does not exist.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(getUserParams.run).As("void", "document"),
}

type getUserParams struct {
	Login string `json:"login,omitzero" doc:"Name of the user."`
}

func (p getUserParams) run(c *engine.Ctx, _ engine.Void) (*people.User, error) {
	name := p.Login
	if name == "" {
		name = c.As.Name
	}
	if name != c.As.Name && !manages(c.As) {
		return nil, fault.Denied.Errorf("user %s: not visible to '%s'", name, c.As.Name)
	}
	u, err := people.Lookup(c.Tx, name)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return u, err
}

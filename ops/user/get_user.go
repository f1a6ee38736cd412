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
	Doc:      "Returns a user, by default the caller, in the form of a document whose properties are those of the schema user. Only administrators and power users may read other users. Returns nothing if the user does not exist.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(getUserParams.run).As("void", "document"),
}

type getUserParams struct {
	Login string `json:"login,omitzero" doc:"Name of the user."`
}

func (p getUserParams) run(c *engine.Ctx, _ engine.Void) (any, error) {
	name := p.Login
	if name == "" {
		name = c.As.Name
	}
	if name != c.As.Name && !manages(c.As) {
		return nil, fault.Denied.Errorf("user %s: not visible to '%s'", name, c.As.Name)
	}
	u, err := people.Lookup(c.Tx, name)
	if err != nil {
		return nil, unlessMissing(err)
	}
	return userDocument(c, u), nil
}

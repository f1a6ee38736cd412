package user

import (
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

// getUser hides other users, as the platform does. User.Read, which the addresses of users run,
// shows everybody's entity to everybody who is signed in.
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
	// Before the lookup: the answer is the same whether the user exists or not.
	if name != c.As.Name && !manages(c.As) {
		return nil, fault.Denied.Errorf("user %s: not visible to '%s'", name, c.As.Name)
	}
	u, err := people.Lookup(c.Tx, name)
	if err != nil {
		return nil, unlessMissing(err)
	}
	return userDocument(c, u), nil
}

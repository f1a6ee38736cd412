package auth

import (
	"catena/engine"
	"catena/storage"
)

var logout = engine.Op{
	Name:     "Auth.Logout",
	Label:    "Logout",
	Category: "Users & Groups",
	Doc:      "Continues as the user before the last Auth.LoginAs of this run, if there was one. A document is read again; any other input is passed on.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.On(logoutParams.void), engine.On(logoutParams.doc)),
}

type logoutParams struct{}

func (logoutParams) void(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	c.Logout()
	return engine.Void{}, nil
}

func (logoutParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	c.Logout()
	return reread(c, d)
}

package auth

import (
	"catena/engine"
	"catena/storage/credential"
)

var listSessions = engine.Op{
	Name:     "SignIn.List",
	Label:    "List Sessions",
	Category: "Users & Groups",
	Doc:      "Returns the browsers in which the caller is signed in, with when they signed in and when the session ends; current marks the one that calls.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone.From(engine.Direct),
	Run: engine.On(func(_ engine.Void, c *engine.Ctx, _ engine.Void) ([]credential.Session, error) {
		return credential.Sessions(c.Tx)
	}),
}

var endSession = engine.Op{
	Name:     "SignIn.End",
	Label:    "End a Session",
	Category: "Users & Groups",
	Doc:      "Ends one of the caller's sessions in a browser, which then has to sign in again.",
	Callers:  engine.Anyone.From(engine.Direct),
	Run:      engine.On(endSessionParams.run),
}

type endSessionParams struct {
	ID string `json:"id" doc:"Identifier of the session."`
}

func (p endSessionParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, credential.EndOwnSession(c.Tx, p.ID)
}

package user

import (
	"catena/engine"
	"catena/storage/credential"
)

var revokeKey = engine.Op{
	Name:     "Key.Revoke",
	Label:    "Revoke API Key",
	Category: "Users & Groups",
	Doc:      "Revokes an API key permanently and returns the input. It does nothing if the key is already revoked.",
	Callers:  engine.Anyone.From(engine.Direct),
	Run:      engine.On(revokeKeyParams.run),
}

type revokeKeyParams struct {
	ID int64 `json:"id" doc:"Id of the key."`
}

func (p revokeKeyParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// A key of somebody else is reported as missing: its number, which is easy to guess, says
	// nothing.
	return engine.Void{}, credential.RevokeKey(c.Tx, p.ID)
}

package user

import (
	"catena/engine"
	"catena/storage/credential"
)

var revokeKey = engine.Op{
	Name:     "Key.Revoke",
	Label:    "Revoke API Key",
	Category: "Users & Groups",
	Doc:      "Ends an API key for good and keeps the input. A key that has ended stays so.",
	Run:      engine.On(revokeKeyParams.run),
}

type revokeKeyParams struct {
	ID int64 `json:"id" doc:"Number of the key."`
}

func (p revokeKeyParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, credential.RevokeKey(c.Tx, p.ID)
}

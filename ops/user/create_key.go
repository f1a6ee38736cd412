package user

import (
	"time"

	"catena/engine"
	"catena/storage/credential"
)

var createKey = engine.Op{
	Name:     "Key.Create",
	Label:    "Create API Key",
	Category: "Users & Groups",
	Doc:      "Makes an API key, with which a program acts for a user: for oneself, or by an administrator for anyone. The key is in the answer this once and cannot be read again.",
	Secret:   true,
	Run:      engine.On(createKeyParams.run).As("void", "object"),
}

type createKeyParams struct {
	User     string    `json:"user,omitzero" doc:"User the key acts for; oneself unless given."`
	Scope    string    `json:"scope" default:"read_only" enum:"read_only,read_write" doc:"What the key allows."`
	Name     string    `json:"name,omitzero" doc:"What the key is for."`
	Expires  time.Time `json:"expires,omitzero" doc:"When the key ends; never unless given."`
	Revision string    `json:"revision,omitzero" doc:"Deck revision the key's programs speak, A or B; both unless given."`
}

func (p createKeyParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	k, text, err := credential.CreateKey(c.Tx, credential.Key{User: p.User, Scope: p.Scope, Name: p.Name, Expires: p.Expires, Revision: p.Revision})
	if err != nil {
		return nil, err
	}
	out := keyObject(k)
	out["key"] = text
	return out, nil
}

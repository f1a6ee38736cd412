package user

import (
	"time"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/credential"
)

// createKey can only be called directly: a chain or a script that somebody else wrote must not make
// itself a credential that outlives the call.
var createKey = engine.Op{
	Name:     "Key.Create",
	Label:    "Create API Key",
	Category: "Users & Groups",
	Doc:      "Creates an API key, with which a program acts for a user: the caller, or for administrators any user. The key is only returned once and cannot be read again.",
	Callers:  engine.Anyone.From(engine.Direct),
	Secret:   true,
	Result:   openapi.Fixed("id:integer user scope name key created:moment", keyMore),
	Run:      engine.On(createKeyParams.run).As("void", "object"),
}

type createKeyParams struct {
	User     string    `json:"user,omitzero" doc:"User the key acts for; by default the caller."`
	Scope    string    `json:"scope" default:"read_only" enum:"read_only,read_write" doc:"Permission of the key."`
	Name     string    `json:"name,omitzero" doc:"Purpose of the key."`
	Expires  time.Time `json:"expires,omitzero" doc:"When the key expires; never by default."`
	Revision string    `json:"revision,omitzero" doc:"Deck service revision that the key's programs use, A or B; both by default."`
}

func (p createKeyParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	k, text, err := credential.CreateKey(c.Tx, credential.Key{User: p.User, Scope: p.Scope, Name: p.Name, Expires: p.Expires, Revision: p.Revision})
	if err != nil {
		return nil, err
	}
	out := keyObject(k)
	// Only a hash is stored, so this is the one time that the text of the key exists.
	out["key"] = text
	return out, nil
}

package user

import (
	"cmp"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/credential"
)

var listKeys = engine.Op{
	Name:     "Key.List",
	Label:    "List API Keys",
	Category: "Users & Groups",
	Doc:      "Returns the API keys of a user, without their secrets: the caller's own, or for administrators those of any user, by default of all users.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone.From(engine.Direct),
	Result:   openapi.List(openapi.Fixed("id:integer user scope name created:moment", keyMore)),
	Run:      engine.On(listKeysParams.run),
}

type listKeysParams struct {
	User string `json:"user,omitzero" doc:"Name of the user."`
}

func (p listKeysParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	user := p.User
	// Without a name, administrators get the keys of all users.
	if !c.As.Admin {
		user = cmp.Or(user, c.As.Name)
	}
	// Naming another user is refused there, for everybody but administrators.
	keys, err := credential.Keys(c.Tx, user)
	if err != nil {
		return nil, err
	}
	all := make([]any, len(keys))
	for i, k := range keys {
		all[i] = keyObject(k)
	}
	return all, nil
}

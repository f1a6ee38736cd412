package outside

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/vault"
)

// managed says who manages credentials: administrators, by calls of their own. A chain or script cannot:
// somebody who may only write chains would otherwise grant themselves a credential by having an
// administrator run one.
var managed = engine.Admins.From(engine.Direct)

var deleteCredential = engine.Op{
	Name: "Credential.Delete", Label: "Delete a credential", Category: "Services", Callers: managed,
	Doc: "Deletes a credential. Requests that name it fail from then on.",
	Run: engine.On(func(p credentialName, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
		return engine.Void{}, vault.Delete(c.Tx, p.Name)
	}),
}

type credentialName struct {
	Name string `json:"name" doc:"Name of the credential."`
}

var listCredentials = engine.Op{
	Name: "Credential.List", Label: "List credentials", Category: "Services", Effect: engine.Reads, Callers: managed,
	Doc:    "Lists the credentials for other services, without their secrets.",
	Result: openapi.List(openapi.Ref("Credential")),
	Run: engine.On(func(_ struct{}, c *engine.Ctx, _ engine.Void) ([]any, error) {
		all, err := vault.List(c.Tx)
		if err != nil {
			return nil, err
		}
		out := make([]any, len(all))
		for i := range all {
			out[i] = shown(&all[i])
		}
		return out, nil
	}),
}

var saveCredential = engine.Op{
	Name: "Credential.Save", Label: "Save a credential", Category: "Services", Callers: managed,
	Doc: "Creates or replaces a credential for another service, which is kept encrypted and never shown. It is granted to chains, for all users who run them, " +
		"and to users and groups, and sent to addresses that begin with its URL only.",
	Result: openapi.Ref("Credential"),
	Run:    engine.On(saveParams.run),
}

type saveParams struct {
	Name        string   `json:"name" doc:"Name of the credential."`
	Kind        string   `json:"kind" enum:"basic,bearer,header,oauth2" doc:"How the service is signed in to: with user and password, with a token, with a header, or with a token that client id and secret get (OAuth 2 client credentials)."`
	URL         string   `json:"url" doc:"The addresses that the credential is for begin with this one."`
	Secret      string   `json:"secret,omitzero" secret:"true" doc:"The password, token, value of the header or client secret; empty keeps the one there is."`
	User        string   `json:"user,omitzero" doc:"The user, or the client id."`
	Header      string   `json:"header,omitzero" doc:"Name of the header, such as X-Api-Key."`
	TokenURL    string   `json:"tokenUrl,omitzero" doc:"Address that gives tokens to clients."`
	Scopes      []string `json:"scopes,omitzero" doc:"Scopes that tokens are asked for."`
	Chains      []string `json:"chains,omitzero" doc:"Chains that may use it."`
	Users       []string `json:"users,omitzero" doc:"Users and groups that may use it."`
	Description string   `json:"description,omitzero" doc:"What it is for."`
}

func (p saveParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	saved, err := vault.Put(c.Tx, vault.Credential{
		Name: p.Name, Kind: p.Kind, URL: p.URL, User: p.User, Header: p.Header, TokenURL: p.TokenURL, Scopes: p.Scopes,
		Chains: p.Chains, Users: p.Users, Description: p.Description,
	}, p.Secret)
	if err != nil {
		return nil, err
	}
	return shown(&saved), nil
}

// shown is a credential as it is shown. It is written out member by member, so that a new member of
// vault.Credential is not shown before somebody decides so.
func shown(c *vault.Credential) map[string]any {
	m := map[string]any{"name": c.Name, "kind": c.Kind, "url": c.URL, "changed": c.Changed, "by": c.By, "revision": c.Revision}
	for name, text := range map[string]string{"user": c.User, "header": c.Header, "tokenUrl": c.TokenURL, "description": c.Description} {
		if text != "" {
			m[name] = text
		}
	}
	for name, list := range map[string][]string{"scopes": c.Scopes, "chains": c.Chains, "users": c.Users} {
		if len(list) > 0 {
			m[name] = engine.List(list)
		}
	}
	return m
}

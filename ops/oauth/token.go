package oauth

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/fault"
	"catena/storage/oauth"
)

var listTokens = engine.Op{
	Name:     "OAuth2.ListTokens",
	Label:    "List OAuth 2 Tokens",
	Category: category,
	Doc:      "Returns the tokens that act for the caller, newest first: all, those issued to clients, or those received from providers. The tokens themselves are not shown.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone.From(engine.Direct),
	Result:   openapi.Ref("OAuthTokens"),
	Run:      engine.On(listTokensParams.run),
}

type listTokensParams struct {
	From string `json:"from" enum:",client,provider" default:"" doc:"client or provider; empty for both."`
}

func (p listTokensParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	rows, err := oauth.Tokens(c.Tx, c.As.Name, "")
	if err != nil {
		return nil, err
	}
	entries := []any{}
	for _, e := range rows {
		// Tokens of both directions share a directory. Those that this server issued name it or a
		// client.
		ours := e.Text("serviceName") == c.Tx.Repo().Name() || e.Text("clientId") != ""
		if p.From == "" || ours == (p.From == "client") {
			entries = append(entries, token(e))
		}
	}
	return map[string]any{"entity-type": "nuxeoOAuth2Tokens", "entries": entries}, nil
}

// tokenParams name a token.
type tokenParams struct {
	Client string `json:"client" doc:"Id of the client."`
	User   string `json:"user,omitzero" doc:"User the token acts for; by default the caller. Only administrators may name another user."`
}

var readToken = engine.Op{
	Name:     "OAuth2.ReadToken",
	Label:    "Read OAuth 2 Token",
	Category: category,
	Doc:      "Returns the metadata of a client's token. The token itself is not shown.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone.From(engine.Direct),
	Result:   openapi.Ref("OAuthToken"),
	Run:      engine.On(tokenParams.read),
}

func (p tokenParams) read(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	rows, err := oauth.Tokens(c.Tx, owner(c, p.User), p.Client)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fault.NotFound.Errorf("token of client %s for %s", p.Client, owner(c, p.User))
	}
	// The newest one, if the client was authorized several times.
	return token(rows[0]), nil
}

var updateToken = engine.Op{
	Name:     "OAuth2.UpdateToken",
	Label:    "Share OAuth 2 Token",
	Category: category,
	Doc:      "Sets with whom a client's token is shared, and returns its metadata.",
	Callers:  engine.Anyone.From(engine.Direct),
	Result:   openapi.Ref("OAuthToken"),
	Run:      engine.On(updateTokenParams.run),
}

type updateTokenParams struct {
	tokenParams
	Token map[string]any `json:"token" type:"object" doc:"The token: isShared and sharedWith."`
}

func (p updateTokenParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	shared, _ := p.Token["isShared"].(bool)
	with, ok := joined(p.Token["sharedWith"]).(string)
	if !ok && p.Token["sharedWith"] != nil {
		return nil, fault.Invalid.Errorf("sharedWith: must be a list of names").In("sharedWith")
	}
	e, err := oauth.Share(c.Tx, owner(c, p.User), p.Client, shared, with)
	if err != nil {
		return nil, err
	}
	return token(e), nil
}

var revokeToken = engine.Op{
	Name:     "OAuth2.RevokeToken",
	Label:    "Revoke OAuth 2 Token",
	Category: category,
	Doc:      "Revokes the token of a client immediately, and returns the input.",
	Callers:  engine.Anyone.From(engine.Direct),
	Run:      engine.On(tokenParams.revoke),
}

func (p tokenParams) revoke(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, oauth.End(c.Tx, owner(c, p.User), p.Client)
}

var revokeReceived = engine.Op{
	Name:     "OAuth2.RevokeProviderToken",
	Label:    "Revoke OAuth 2 Token of a Provider",
	Category: category,
	Doc:      "Removes the tokens that a provider issued for a user, and returns the input.",
	Callers:  engine.Anyone.From(engine.Direct),
	Run:      engine.On(revokeReceivedParams.run),
}

type revokeReceivedParams struct {
	Provider string `json:"provider" doc:"Name of the provider."`
	User     string `json:"user,omitzero" doc:"User the token acts for; by default the caller. Only administrators may name another user."`
}

func (p revokeReceivedParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, oauth.EndReceived(c.Tx, owner(c, p.User), p.Provider)
}

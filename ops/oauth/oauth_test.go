package oauth_test

import (
	"testing"

	"catena/ops/oauth"
	"catena/ops/opstest"
)

func TestClients(t *testing.T) {
	s := opstest.Serve(t, oauth.Ops)
	client := func(more string) string {
		return `{"kind": "client", "entity": {"id": "app", "name": "App", "redirectURIs": ["https://app.example.org/back"], "secret": "s3cret"` + more + `}}`
	}
	s.Play([]opstest.Row{
		{"alice", "OAuth2.Create", "", client(""), "! denied: directory oauth2Clients: 'alice' may not change it"}, // for administrators
		{"admin", "OAuth2.Create", "", client(""), `{"entity-type":"oauth2Client","id":"app","isAutoGrant":false,"isEnabled":true,"name":"App","redirectURIs":["https://app.example.org/back"],"secret":null}`},
		{"", "OAuth2.Create", "", client(""), "! exists: oauth2Client app"},
		{"", "OAuth2.Create", "", `{"kind": "client", "entity": {"id": "", "name": "App", "redirectURIs": ["https://app.example.org/back"]}}`, "! invalid id: oauth2Client: id is missing"},
		{"", "OAuth2.Create", "", `{"kind": "client", "entity": {"id": "bad", "name": "App", "redirectURIs": ["http://app.example.org/back"]}}`, `{"entity-type":"oauth2Client","id":"bad","isAutoGrant":false,"isEnabled":true,"name":"App","redirectURIs":["http://app.example.org/back"],"secret":null}`},
		{"", "OAuth2.Create", "", `{"kind": "client", "entity": {"id": "bad", "name": "App", "redirectURIs": []}}`, "! exists: oauth2Client bad"},
		{"", "OAuth2.Create", "", `{"kind": "nope", "entity": {}}`, `! invalid kind: parameter "kind": "nope" is not one of client, provider`},
		{"", "OAuth2.Create", "", `{"kind": "client"}`, `! invalid missing_parameter entity: parameter "entity" is missing`},
		{"alice", "OAuth2.Read", "", `{"kind": "client", "id": "app"}`, "! notfound: oauth2Client app"},
		{"admin", "OAuth2.Read", "", `{"kind": "client", "id": "app"}`, `{"entity-type":"oauth2Client","id":"app","isAutoGrant":false,"isEnabled":true,"name":"App","redirectURIs":["https://app.example.org/back"],"secret":null}`},
		{"", "OAuth2.Read", "", `{"kind": "client", "id": "App"}`, "! notfound: oauth2Client App"},
		{"", "OAuth2.List", "", `{"kind": "client"}`, `{"entity-type":"oauth2Clients","entries":[{"entity-type":"oauth2Client","id":"app","isAutoGrant":false,"isEnabled":true,"name":"App","redirectURIs":["https://app.example.org/back"],"secret":null},{"entity-type":"oauth2Client","id":"bad","isAutoGrant":false,"isEnabled":true,"name":"App","redirectURIs":["http://app.example.org/back"],"secret":null}]}`},
		{"", "OAuth2.Update", "", `{"kind": "client", "id": "app", "entity": {"name": "Renamed"}}`, `{"entity-type":"oauth2Client","id":"app","isAutoGrant":false,"isEnabled":true,"name":"Renamed","redirectURIs":["https://app.example.org/back"],"secret":null}`},
		{"", "OAuth2.Update", "", `{"kind": "client", "id": "nope", "entity": {"name": "Renamed"}}`, "! notfound: oauth2Client nope"},
		{"alice", "OAuth2.Update", "", `{"kind": "client", "id": "app", "entity": {"name": "Mine"}}`, "! notfound: oauth2Client app"},
		{"", "OAuth2.Delete", "", `{"kind": "client", "id": "app"}`, "! notfound: oauth2Client app"},
		{"admin", "OAuth2.Delete", "", `{"kind": "client", "id": "app"}`, ""},
		{"", "OAuth2.Delete", "", `{"kind": "client", "id": "app"}`, "! notfound: oauth2Client app"},
		{"", "OAuth2.List", "", `{"kind": "client"}`, `{"entity-type":"oauth2Clients","entries":[{"entity-type":"oauth2Client","id":"bad","isAutoGrant":false,"isEnabled":true,"name":"App","redirectURIs":["http://app.example.org/back"],"secret":null}]}`},
		{"alice", "OAuth2.ListTokens", "", `{}`, `{"entity-type":"nuxeoOAuth2Tokens","entries":[]}`},
		{"", "OAuth2.ListTokens", "", `{"from": "nope"}`, `! invalid from: parameter "from": "nope" is not one of , client, provider`},
		{"", "OAuth2.ReadToken", "", `{"client": "app"}`, "! notfound: token of client app for alice"},
		{"", "OAuth2.ReadToken", "", `{"client": "app", "user": "bob"}`, "! denied: tokens of bob: not visible to 'alice'"},
		{"", "OAuth2.RevokeToken", "", `{"client": "app"}`, "! notfound: token of client app for alice"},
		{"", "OAuth2.RevokeProviderToken", "", `{"provider": "p", "user": "bob"}`, "! denied: tokens of bob: not visible to 'alice'"},
	})
}

func TestProviders(t *testing.T) {
	s := opstest.Serve(t, oauth.Ops)
	s.Play([]opstest.Row{
		{"admin", "OAuth2.Create", "", `{"kind": "provider", "entity": {"serviceName": "drive", "clientId": "c", "clientSecret": "hidden", "tokenServerURL": "https://example.org/token", "isEnabled": true}}`, `{"entity-type":"nuxeoOAuth2ServiceProvider","authorizationServerURL":null,"clientId":"c","clientSecret":null,"description":null,"isEnabled":true,"scopes":[],"serviceName":"drive","tokenServerURL":"https://example.org/token","userAuthorizationURL":null}`},
		{"", "OAuth2.Read", "", `{"kind": "provider", "id": "drive"}`, `{"entity-type":"nuxeoOAuth2ServiceProvider","authorizationServerURL":null,"clientId":"c","clientSecret":null,"description":null,"isEnabled":true,"scopes":[],"serviceName":"drive","tokenServerURL":"https://example.org/token","userAuthorizationURL":null}`},
		{"", "OAuth2.Update", "", `{"kind": "provider", "id": "drive", "entity": {"isEnabled": false}}`, `{"entity-type":"nuxeoOAuth2ServiceProvider","authorizationServerURL":null,"clientId":"c","clientSecret":null,"description":null,"isEnabled":false,"scopes":[],"serviceName":"drive","tokenServerURL":"https://example.org/token","userAuthorizationURL":null}`},
		{"", "OAuth2.List", "", `{"kind": "provider"}`, `{"entity-type":"nuxeoOAuth2ServiceProviders","entries":[{"entity-type":"nuxeoOAuth2ServiceProvider","authorizationServerURL":null,"clientId":"c","clientSecret":null,"description":null,"isEnabled":false,"scopes":[],"serviceName":"drive","tokenServerURL":"https://example.org/token","userAuthorizationURL":null}]}`},
		{"alice", "OAuth2.List", "", `{"kind": "provider"}`, `{"entity-type":"nuxeoOAuth2ServiceProviders","entries":[]}`},
		{"", "OAuth2.Read", "", `{"kind": "provider", "id": "drive"}`, "! notfound: nuxeoOAuth2ServiceProvider drive"},
		{"admin", "OAuth2.Delete", "", `{"kind": "provider", "id": "drive"}`, ""},
		{"", "OAuth2.Read", "", `{"kind": "provider", "id": "drive"}`, "! notfound: nuxeoOAuth2ServiceProvider drive"},
	})
}

// What is wrong with a client or provider is said with its field, and nothing is kept of it.
func TestClientsThatAreWrong(t *testing.T) {
	s := opstest.Serve(t, oauth.Ops)
	client := func(more string) string { return `{"kind": "client", "entity": {"id": "c", "name": "C"` + more + `}}` }
	s.Play([]opstest.Row{
		{"admin", "OAuth2.Create", "", client(`, "redirectURIs": 5`), "! invalid redirectURIs: redirectURIs: must be a list of strings"},
		{"", "OAuth2.Create", "", client(`, "redirectURIs": [5]`), "! invalid redirectURIs: redirectURIs: must be a list of strings"},
		{"", "OAuth2.Create", "", client(`, "entity-type": "user"`), `! invalid entity-type: entity-type: must be oauth2Client, not "user"`},
		{"", "OAuth2.Read", "", `{"kind": "client", "id": "c"}`, "! notfound: oauth2Client c"},
		{"", "OAuth2.Read", "", `{"kind": "client", "id": ""}`, "! notfound: oauth2Client …"},
		{"", "OAuth2.Read", "", `{"kind": "Client", "id": "c"}`, `! invalid kind: parameter "kind": "Client" is not one of client, provider`},
		{"", "OAuth2.Read", "", `{"id": "c"}`, `! invalid missing_parameter kind: parameter "kind" is missing`},
		{"", "OAuth2.Create", "", client(`, "redirectURIs": ["https://c.example.org/"], "secret": "s"`), `{…"id":"c"…"secret":null}`},
		{"", "OAuth2.Update", "", `{"kind": "client", "id": "c", "entity": {"redirectURIs": {}}}`, "! invalid redirectURIs: redirectURIs: must be a list of strings"},
		{"", "OAuth2.Update", "", `{"kind": "client", "id": "c", "entity": {"name": "日本", "isEnabled": false}}`, `{…"isEnabled":false,"name":"日本","redirectURIs":["https://c.example.org/"],"secret":null}`},
		{"", "OAuth2.Update", "", `{"kind": "client", "id": "c", "entity": {}}`, `{…"isEnabled":false,"name":"日本",…}`},
		{"", "OAuth2.Read", "", `{"kind": "provider", "id": "c"}`, "! notfound: nuxeoOAuth2ServiceProvider c"}, // another kind
		{"", "OAuth2.Delete", "", `{"kind": "provider", "id": "c"}`, "! notfound: nuxeoOAuth2ServiceProvider c"},
		{"", "OAuth2.Create", "", `{"kind": "provider", "entity": {"serviceName": ""}}`, "! invalid …: nuxeoOAuth2ServiceProvider: id is missing"},
		{"", "OAuth2.ListTokens", "", `{"from": "Client"}`, `! invalid from: parameter "from": "Client" is not one of , client, provider`},
		{"", "OAuth2.ReadToken", "", `{"client": "c", "user": "bob"}`, "! notfound: token of client c for bob"}, // an administrator may ask
		{"", "OAuth2.RevokeToken", "", `{"client": ""}`, "! notfound: token of client …"},
		{"bob", "OAuth2.Delete", "", `{"kind": "client", "id": "c"}`, "! notfound: oauth2Client c"},
		{"admin", "OAuth2.Read", "", `{"kind": "client", "id": "c"}`, `{…"id":"c"…}`},
	})
}

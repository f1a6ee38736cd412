package rest

import (
	"maps"
	"net/http"

	"catena/engine"
)

// oauthAdminRoutes are the addresses of clients, providers and tokens of OAuth 2.
func oauthAdminRoutes() []route {
	own := func(from string) handler { return call("OAuth2.ListTokens", saying(values{"from": from})) }
	out := []route{
		{method: "GET", path: "/oauth2/token", handle: own("")},
		{method: "GET", path: "/oauth2/token/client", handle: own("client")},
		{method: "GET", path: "/oauth2/token/provider", handle: own("provider")},
		{method: "GET", path: "/oauth2/token/client/:client/user/:user", handle: call("OAuth2.ReadToken", tokenOf)},
		{method: "PUT", path: "/oauth2/token/client/:client/user/:user", handle: func(x *exchange) error {
			return x.runBody("OAuth2.UpdateToken", "token", tokenOf, http.StatusOK)
		}},
		{method: "DELETE", path: "/oauth2/token/client/:client/user/:user", handle: removed("OAuth2.RevokeToken", tokenOf)},
	}
	for _, kind := range []string{"client", "provider"} {
		all := saying(values{"kind": kind})
		one := func(x *exchange) (values, error) {
			id, err := x.param("name")
			return values{"kind": kind, "id": id}, err
		}
		out = append(
			out,
			route{method: "GET", path: "/oauth2/" + kind, handle: call("OAuth2.List", all)},
			route{method: "POST", path: "/oauth2/" + kind, handle: func(x *exchange) error {
				return x.runBody("OAuth2.Create", "entity", all, http.StatusCreated)
			}},
			route{method: "GET", path: "/oauth2/" + kind + "/:name", handle: call("OAuth2.Read", one)},
			route{method: "PUT", path: "/oauth2/" + kind + "/:name", handle: func(x *exchange) error {
				return x.runBody("OAuth2.Update", "entity", one, http.StatusOK)
			}},
			route{method: "DELETE", path: "/oauth2/" + kind + "/:name", handle: removed("OAuth2.Delete", one)},
		)
	}
	return out
}

// saying gives parameters that the address alone says.
func saying(v values) func(*exchange) (values, error) {
	return func(*exchange) (values, error) { return maps.Clone(v), nil }
}

// tokenOf are the client and the user of an address.
func tokenOf(x *exchange) (values, error) {
	client, err := x.param("client")
	if err != nil {
		return nil, err
	}
	user, err := x.param("user")
	return values{"client": client, "user": user}, err
}

// removed runs an operation that leaves nothing to answer with.
func removed(op string, params func(*exchange) (values, error)) handler {
	return func(x *exchange) error {
		p, err := params(x)
		if err != nil {
			return err
		}
		return x.run(engine.Call{Op: op, Params: p}, reply{status: http.StatusNoContent})
	}
}

package rest

import (
	"maps"
	"net/http"
)

// oauthAdminRoutes are the addresses of clients, providers and tokens of OAuth 2.
func oauthAdminRoutes() []route {
	own := func(from string) func(*exchange) (values, error) { return saying(values{"from": from}) }
	out := []route{
		{method: "GET", path: "/oauth2/token", op: "OAuth2.ListTokens", params: own("")},
		{method: "GET", path: "/oauth2/token/client", op: "OAuth2.ListTokens", params: own("client")},
		{method: "GET", path: "/oauth2/token/provider", op: "OAuth2.ListTokens", params: own("provider")},
		{method: "GET", path: "/oauth2/token/client/:client/user/:user", op: "OAuth2.ReadToken"},
		{method: "PUT", path: "/oauth2/token/client/:client/user/:user", op: "OAuth2.UpdateToken", entity: "token"},
		{method: "DELETE", path: "/oauth2/token/client/:client/user/:user", op: "OAuth2.RevokeToken"},
	}
	for _, kind := range []string{"client", "provider"} {
		all := saying(values{"kind": kind})
		one := func(x *exchange) (values, error) {
			id, err := x.param("name")
			return values{"kind": kind, "id": id}, err
		}
		out = append(
			out,
			route{method: "GET", path: "/oauth2/" + kind, op: "OAuth2.List", params: all},
			route{method: "POST", path: "/oauth2/" + kind, op: "OAuth2.Create", entity: "entity", params: all, status: http.StatusCreated},
			route{method: "GET", path: "/oauth2/" + kind + "/:name", op: "OAuth2.Read", params: one},
			route{method: "PUT", path: "/oauth2/" + kind + "/:name", op: "OAuth2.Update", entity: "entity", params: one},
			route{method: "DELETE", path: "/oauth2/" + kind + "/:name", op: "OAuth2.Delete", params: one},
		)
	}
	return out
}

// saying gives parameters that the address alone says.
func saying(v values) func(*exchange) (values, error) {
	return func(*exchange) (values, error) { return maps.Clone(v), nil }
}

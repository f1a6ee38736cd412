package people

import (
	"net/http"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// tokenRoutes are the addresses of a user's own device tokens.
func tokenRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/token", Op: "Token.List", Query: "application", Gives: "Tokens"},
		{Method: "POST", Path: "/token", Body: rest.NoBody, Handle: func(x *rest.Request) error { return acquireToken(x, "application") }, Op: "Token.Acquire", Query: "application deviceId deviceDescription permission", Status: http.StatusCreated, Gives: "text"},
		{Method: "DELETE", Path: "/token/:token", Op: "Token.Revoke"},
	}
}

// deviceToken answers with the token of a program on a device as bare text, or ends it.
func deviceToken(x *rest.Request) error {
	if !x.Flag("revoke") {
		return acquireToken(x, "applicationName")
	}
	q := x.Query()
	params := rest.Values{"application": q.Get("applicationName"), "deviceId": q.Get("deviceId")}
	_, err := x.Value(engine.Call{Op: "Token.Revoke", Params: params})
	if fault.Is(err, fault.NotFound) {
		return fault.Invalid.Errorf("token: there is none for this program and device")
	}
	if err != nil {
		return err
	}
	return x.Text(http.StatusAccepted, "The token is revoked.")
}

// acquireToken answers with a token; application is what the parameter for the program is called.
func acquireToken(x *rest.Request, application string) error {
	q := x.Query()
	params := rest.Values{"permission": q.Get("permission"), "deviceDescription": q.Get("deviceDescription")}
	// In this order, so that the same request has the same error.
	for _, p := range [...]struct{ name, from string }{{"application", application}, {"deviceId", "deviceId"}} {
		if params[p.name] = q.Get(p.from); params[p.name] == "" {
			return fault.Invalid.Errorf("token: %s is missing", p.from).In(p.from)
		}
	}
	v, err := x.Value(engine.Call{Op: "Token.Acquire", Params: params})
	if err != nil {
		return err
	}
	token, _ := v.(string)
	x.Writer.Header().Set("Cache-Control", "no-store")
	return x.Text(http.StatusCreated, token)
}

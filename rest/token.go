package rest

import (
	"crypto/md5" //nolint:gosec // what portals of the platform send
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

// tokenRoutes are the addresses of a user's own device tokens.
func tokenRoutes() []route {
	return []route{
		{method: "GET", path: "/token", op: "Token.List", query: "application", gives: "Tokens"},
		{method: "POST", path: "/token", body: noBody, handle: func(x *exchange) error { return x.acquireToken("application") }, op: "Token.Acquire", query: "application deviceId deviceDescription permission", status: http.StatusCreated, gives: "text"},
		{method: "DELETE", path: "/token/:token", op: "Token.Revoke"},
	}
}

// deviceToken answers with the token of a program on a device as bare text, or ends it.
func deviceToken(x *exchange) error {
	if !x.flag("revoke") {
		return x.acquireToken("applicationName")
	}
	q := x.query()
	params := values{"application": q.Get("applicationName"), "deviceId": q.Get("deviceId")}
	_, err := x.engine.Run(x.r.Context(), engine.Call{Op: "Token.Revoke", Params: params, As: x.as, Door: x.door(), RequestID: x.id})
	if fault.Is(err, fault.NotFound) {
		return fault.Invalid.Errorf("token: there is none of this program and device")
	}
	if err != nil {
		return err
	}
	return x.text(http.StatusAccepted, "The token is revoked.")
}

// acquireToken answers with a token; application is what the parameter for the program is called.
func (x *exchange) acquireToken(application string) error {
	q := x.query()
	params := values{"permission": q.Get("permission"), "deviceDescription": q.Get("deviceDescription")}
	for name, from := range map[string]string{"application": application, "deviceId": "deviceId"} {
		if params[name] = q.Get(from); params[name] == "" {
			return fault.Invalid.Errorf("token: %s is missing", from).In(from)
		}
	}
	res, err := x.engine.Run(x.r.Context(), engine.Call{Op: "Token.Acquire", Params: params, As: x.as, Door: x.door(), RequestID: x.id})
	if err != nil {
		return err
	}
	token, _ := res.Value.(string)
	x.w.Header().Set("Cache-Control", "no-store")
	return x.text(http.StatusCreated, token)
}

// portalSkew is how old what a portal signed may be.
const portalSkew = time.Minute

// portal reports whether a portal says who asks, and may.
func (x *exchange) portal() bool { return x.s.Portal != "" && len(x.r.Header["Nx_user"]) == 1 }

// signInPortal takes a portal's word, signed with the secret shared with it.
func (x *exchange) signInPortal() (*engine.Principal, error) {
	h := x.r.Header
	user, ts, rd := h.Get("Nx_user"), h.Get("Nx_ts"), h.Get("Nx_rd")
	sum := md5.Sum([]byte(ts + ":" + rd + ":" + x.s.Portal + ":" + user)) //nolint:gosec // as above
	want := base64.StdEncoding.EncodeToString(sum[:])
	ms, err := strconv.ParseInt(ts, 10, 64)
	if err != nil || subtle.ConstantTimeCompare([]byte(want), []byte(h.Get("Nx_token"))) != 1 {
		return nil, fault.Denied.Errorf("sign-in: the portal's token is wrong")
	}
	if age := time.Since(time.UnixMilli(ms)); age > portalSkew || age < -portalSkew {
		return nil, fault.Denied.Errorf("sign-in: the portal's token is old")
	}
	return x.engine.PrincipalOf(x.r.Context(), user)
}

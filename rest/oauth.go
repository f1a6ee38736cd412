package rest

import (
	"crypto/hmac"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"catena/engine"
	"catena/rest/web"
	"catena/storage/fault"
)

// oauthRoutes are the addresses of signing in by OAuth 2, and that of device tokens.
func oauthRoutes() []route {
	return []route{
		{method: "GET", path: "/authentication/token", handle: deviceToken, query: "applicationName deviceId deviceDescription permission revoke", status: http.StatusCreated, or: http.StatusAccepted, gives: "text", says: "Returns the token of a program on a device, or ends it."},
		{method: "GET", path: "/oauth2/authorize", access: visitor, handle: authorize, gives: "page", or: http.StatusSeeOther, query: "client_id redirect_uri response_type state scope code_challenge code_challenge_method", says: "Asks a user to let a client act for them (OAuth 2)."},
		{method: "POST", path: "/oauth2/authorize_submit", access: visitor, body: formBody, handle: authorizeSubmit, status: http.StatusSeeOther, gives: "none", says: "Takes the user's word and leads back to the client (OAuth 2)."},
		{method: "POST", path: "/oauth2/token", access: open, body: formBody, handle: oauthToken, says: "Gives a client a token for a code or a refresh token (OAuth 2)."},
	}
}

// oauthRequest is what a client asks of a user, from a query or a form.
func oauthRequest(v url.Values) (engine.OAuthRequest, error) {
	q := engine.OAuthRequest{
		Client: v.Get("client_id"), RedirectURI: v.Get("redirect_uri"),
		Challenge: v.Get("code_challenge"), Method: v.Get("code_challenge_method"),
	}
	if typ := v.Get("response_type"); typ != "code" {
		return q, fault.Invalid.Errorf("response_type: code expected, not %q", typ).WithCode(fault.CodeUnsupportedResponseType)
	}
	return q, nil
}

// authorize asks the user whether a client may act for them, unless that is settled.
func authorize(x *exchange) error {
	q, err := oauthRequest(x.query())
	if err != nil {
		return err
	}
	c, back, granted, err := x.s.Engine.OAuthClient(x.r.Context(), x.as, q)
	if err != nil {
		return err
	}
	if x.guest() {
		return x.see("/ui/login?next=" + url.QueryEscape("/oauth2/authorize?"+x.r.URL.RawQuery))
	}
	if granted {
		return x.authorized(q, back, x.query().Get("state"))
	}
	name := c.Name
	if name == "" {
		name = c.ID
	}
	p, err := x.site().Grant(&web.Form{Name: name, Next: x.r.URL.RawQuery}, back)
	return x.page(http.StatusOK, p, err)
}

// authorizeSubmit takes the user's answer and goes back to the client.
func authorizeSubmit(x *exchange) error {
	f, err := x.form()
	if err != nil {
		return err
	}
	if x.guest() {
		return fault.Denied.Errorf("sign-in: user and password are needed").WithCode(fault.CodeNotSignedIn)
	}
	if x.session != "" && !hmac.Equal([]byte(f.Get("csrf")), []byte(csrfOf(x.session))) {
		return fault.Denied.Errorf("the page is of another session")
	}
	asked := f
	if request := f.Get("request"); request != "" {
		if asked, err = url.ParseQuery(request); err != nil {
			return fault.Invalid.Errorf("request: %v", err)
		}
	}
	q, err := oauthRequest(asked)
	if err != nil {
		return err
	}
	_, back, _, err := x.s.Engine.OAuthClient(x.r.Context(), x.as, q)
	if err != nil {
		return err
	}
	if f.Get("grant_access") == "" {
		return x.goBack(back, url.Values{"error": {"access_denied"}}, asked.Get("state"))
	}
	return x.authorized(q, back, asked.Get("state"))
}

// authorized goes back to the client with a code.
func (x *exchange) authorized(q engine.OAuthRequest, back, state string) error {
	code, err := x.s.Engine.Authorize(x.r.Context(), x.as, q)
	if err != nil {
		return err
	}
	return x.goBack(back, url.Values{"code": {code}}, state)
}

func (x *exchange) goBack(back string, v url.Values, state string) error {
	if state != "" {
		v.Set("state", state)
	}
	sep := "?"
	if strings.Contains(back, "?") {
		sep = "&"
	}
	x.w.Header().Set("Cache-Control", "no-store")
	x.write(&answer{status: http.StatusFound, location: back + sep + v.Encode()})
	return nil
}

// grants are the ways to get a token.
const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
	grantJWT     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

// oauthToken gives out a token.
func oauthToken(x *exchange) error {
	f, err := x.form()
	if err != nil {
		return err
	}
	g := engine.OAuthGrant{Client: f.Get("client_id"), Secret: f.Get("client_secret")}
	if id, secret, ok := x.r.BasicAuth(); ok && g.Client == "" {
		g.Client, g.Secret = id, secret
	}
	switch typ := f.Get("grant_type"); typ {
	case grantCode:
		g.Code, g.RedirectURI, g.Verifier = f.Get("code"), f.Get("redirect_uri"), f.Get("code_verifier")
	case grantRefresh:
		g.Refresh = f.Get("refresh_token")
	case grantJWT:
		as, err := x.s.Engine.SignInJWT(x.r.Context(), f.Get("assertion"))
		if err != nil {
			return x.oauthProblem(fault.Invalid.Errorf("assertion is not valid").WithCode(fault.CodeInvalidGrant))
		}
		g.User = as.Name
	case "":
		return x.oauthProblem(fault.Invalid.Errorf("grant_type is missing").WithCode(fault.CodeInvalidRequest))
	default:
		return x.oauthProblem(fault.Invalid.Errorf("grant_type %q is not known", typ).WithCode(fault.CodeUnsupportedGrantType))
	}
	token, err := x.s.Engine.OAuthToken(x.fromClient(), g)
	if err != nil {
		return x.oauthProblem(err)
	}
	x.w.Header().Set("Cache-Control", "no-store")
	return x.json(http.StatusOK, map[string]any{
		"access_token": token.Access, "refresh_token": token.Refresh, "token_type": "bearer",
		"expires_in": int64((token.Expires - time.Millisecond) / time.Second),
	})
}

// oauthProblem says what is wrong with a grant as clients of OAuth 2 expect it. Other errors
// are answered like everywhere.
func (x *exchange) oauthProblem(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Code == 0 {
		return err
	}
	x.w.Header().Set("Cache-Control", "no-store")
	return x.json(http.StatusBadRequest, map[string]any{"error": f.Code.String(), "error_description": f.Message})
}

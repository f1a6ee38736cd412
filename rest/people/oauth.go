package people

import (
	"crypto/hmac"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"catena/rest"
	"catena/rest/web"
	"catena/storage/fault"
	"catena/storage/oauth"
)

// OAuthRoutes are the addresses of signing in by OAuth 2, and that of device tokens.
func OAuthRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/authentication/token", Changes: true, Handle: deviceToken, Query: "applicationName deviceId deviceDescription permission revoke", Status: http.StatusCreated, Or: http.StatusAccepted, Gives: "text", Says: "Returns or revokes the token of a program on a device."},
		{Method: "GET", Path: "/oauth2/authorize", Access: rest.Visitor, Handle: authorize, Gives: "page", Or: http.StatusSeeOther, Query: "client_id redirect_uri response_type state scope code_challenge code_challenge_method", Says: "Asks a user to authorize a client (OAuth 2)."},
		{Method: "POST", Path: "/oauth2/authorize_submit", Access: rest.Visitor, Body: rest.FormBody, Handle: authorizeSubmit, Status: http.StatusSeeOther, Gives: "none", Says: "Accepts the user's decision and redirects to the client (OAuth 2)."},
		{Method: "POST", Path: "/oauth2/token", Access: rest.Open, Body: rest.FormBody, Handle: oauthToken, Gives: "OAuthGrant", Says: "Issues a client a token for a code or a refresh token (OAuth 2)."},
	}
}

// oauthRequest is what a client asks of a user, from a query or a form.
func oauthRequest(v url.Values) (oauth.Request, error) {
	q := oauth.Request{
		Client: v.Get("client_id"), RedirectURI: v.Get("redirect_uri"),
		Challenge: v.Get("code_challenge"), Method: v.Get("code_challenge_method"),
	}
	if typ := v.Get("response_type"); typ != "code" {
		return q, fault.Invalid.Errorf("response_type: must be code, not %q", typ).WithCode(fault.CodeUnsupportedResponseType)
	}
	return q, nil
}

// authorize asks the user whether a client may act for them, unless that is settled.
func authorize(x *rest.Request) error {
	q, err := oauthRequest(x.Query())
	if err != nil {
		return err
	}
	c, back, granted, err := oauth.Ask(x.HTTP.Context(), x.Server.Engine.Repo(), x.As, q)
	if err != nil {
		return err
	}
	if x.Guest() {
		return x.See("/ui/login?next=" + url.QueryEscape("/oauth2/authorize?"+x.HTTP.URL.RawQuery))
	}
	if granted {
		return authorized(x, q, back, x.Query().Get("state"))
	}
	name := c.Name
	if name == "" {
		name = c.ID
	}
	p, err := x.Site().Grant(&web.Form{Name: name, Next: x.HTTP.URL.RawQuery}, back)
	return x.Show(http.StatusOK, p, err)
}

// authorizeSubmit takes the user's answer and goes back to the client.
func authorizeSubmit(x *rest.Request) error {
	f, err := x.Form()
	if err != nil {
		return err
	}
	if x.Guest() {
		return fault.Denied.Errorf("sign-in: user and password are required").WithCode(fault.CodeNotSignedIn)
	}
	if x.Session != "" && !hmac.Equal([]byte(f.Get("csrf")), []byte(rest.CSRFOf(x.Session))) {
		return fault.Denied.Errorf("the page belongs to another session")
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
	_, back, _, err := oauth.Ask(x.HTTP.Context(), x.Server.Engine.Repo(), x.As, q)
	if err != nil {
		return err
	}
	if f.Get("grant_access") == "" {
		return goBack(x, back, url.Values{"error": {"access_denied"}}, asked.Get("state"))
	}
	return authorized(x, q, back, asked.Get("state"))
}

// authorized goes back to the client with a code.
func authorized(x *rest.Request, q oauth.Request, back, state string) error {
	code, err := oauth.Authorize(x.HTTP.Context(), x.Server.Engine.Repo(), x.As, q)
	if err != nil {
		return err
	}
	return goBack(x, back, url.Values{"code": {code}}, state)
}

func goBack(x *rest.Request, back string, v url.Values, state string) error {
	if state != "" {
		v.Set("state", state)
	}
	sep := "?"
	if strings.Contains(back, "?") {
		sep = "&"
	}
	x.Writer.Header().Set("Cache-Control", "no-store")
	x.Write(&rest.Answer{Status: http.StatusFound, Location: back + sep + v.Encode()})
	return nil
}

// grants are the ways to get a token.
const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
	grantJWT     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

// oauthToken gives out a token.
func oauthToken(x *rest.Request) error {
	f, err := x.Form()
	if err != nil {
		return err
	}
	g := oauth.Grant{Client: f.Get("client_id"), Secret: f.Get("client_secret")}
	if id, secret, ok := x.HTTP.BasicAuth(); ok && g.Client == "" {
		g.Client, g.Secret = id, secret
	}
	switch typ := f.Get("grant_type"); typ {
	case grantCode:
		g.Code, g.RedirectURI, g.Verifier = f.Get("code"), f.Get("redirect_uri"), f.Get("code_verifier")
	case grantRefresh:
		g.Refresh = f.Get("refresh_token")
	case grantJWT:
		as, err := x.Server.SignIn.JWT(x.HTTP.Context(), f.Get("assertion"))
		if err != nil {
			return oauthProblem(x, fault.Invalid.Errorf("assertion is not valid").WithCode(fault.CodeInvalidGrant))
		}
		g.User = as.Name
	case "":
		return oauthProblem(x, fault.Invalid.Errorf("grant_type is missing").WithCode(fault.CodeInvalidRequest))
	default:
		return oauthProblem(x, fault.Invalid.Errorf("grant_type %q is unknown", typ).WithCode(fault.CodeUnsupportedGrantType))
	}
	token, err := oauth.Carry(x.FromClient(), x.Server.Engine.Repo(), g)
	if err != nil {
		return oauthProblem(x, err)
	}
	x.Writer.Header().Set("Cache-Control", "no-store")
	return x.JSON(http.StatusOK, map[string]any{
		"access_token": token.Access, "refresh_token": token.Refresh, "token_type": "bearer",
		"expires_in": int64((token.Expires - time.Millisecond) / time.Second),
	})
}

// oauthProblem says what is wrong with a grant as clients of OAuth 2 expect it. Other errors
// are answered like everywhere.
func oauthProblem(x *rest.Request, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Code == 0 {
		return err
	}
	x.Writer.Header().Set("Cache-Control", "no-store")
	return x.JSON(http.StatusBadRequest, map[string]any{"error": f.Code.String(), "error_description": f.Message})
}

// OAuthAdminRoutes are the addresses of clients, providers and tokens of OAuth 2.
func OAuthAdminRoutes() []rest.Route {
	own := func(from string) func(*rest.Request) (rest.Values, error) { return saying(rest.Values{"from": from}) }
	out := []rest.Route{
		{Method: "GET", Path: "/oauth2/token", Op: "OAuth2.ListTokens", Params: own(""), Gives: "OAuthTokens"},
		{Method: "GET", Path: "/oauth2/token/client", Op: "OAuth2.ListTokens", Params: own("client"), Gives: "OAuthTokens"},
		{Method: "GET", Path: "/oauth2/token/provider", Op: "OAuth2.ListTokens", Params: own("provider"), Gives: "OAuthTokens"},
		{Method: "GET", Path: "/oauth2/token/client/:client/user/:user", Op: "OAuth2.ReadToken", Gives: "OAuthToken"},
		{Method: "PUT", Path: "/oauth2/token/client/:client/user/:user", Op: "OAuth2.UpdateToken", Entity: "token", Gives: "OAuthToken"},
		{Method: "DELETE", Path: "/oauth2/token/client/:client/user/:user", Op: "OAuth2.RevokeToken"},
		{Method: "DELETE", Path: "/oauth2/token/provider/:provider/user/:user", Op: "OAuth2.RevokeProviderToken"},
		{Method: "GET", Path: "/oauth2/token/AS_CLIENT", Op: "OAuth2.ListTokens", Params: own("provider"), Gives: "OAuthTokens"},
		{Method: "GET", Path: "/oauth2/token/AS_PROVIDER", Op: "OAuth2.ListTokens", Params: own("client"), Gives: "OAuthTokens"},
	}
	for _, kind := range []string{"client", "provider"} {
		all := saying(rest.Values{"kind": kind})
		one := func(x *rest.Request) (rest.Values, error) {
			id, err := x.Param("name")
			return rest.Values{"kind": kind, "id": id}, err
		}
		gives := "OAuth" + strings.ToUpper(kind[:1]) + kind[1:]
		out = append(
			out,
			rest.Route{Method: "GET", Path: "/oauth2/" + kind, Op: "OAuth2.List", Params: all, Gives: gives + "s"},
			rest.Route{Method: "POST", Path: "/oauth2/" + kind, Op: "OAuth2.Create", Entity: "entity", Params: all, Status: http.StatusCreated, Gives: gives},
			rest.Route{Method: "GET", Path: "/oauth2/" + kind + "/:name", Op: "OAuth2.Read", Params: one, Gives: gives},
			rest.Route{Method: "PUT", Path: "/oauth2/" + kind + "/:name", Op: "OAuth2.Update", Entity: "entity", Params: one, Gives: gives},
			rest.Route{Method: "DELETE", Path: "/oauth2/" + kind + "/:name", Op: "OAuth2.Delete", Params: one},
		)
	}
	return out
}

// saying gives parameters that the address alone says.
func saying(v rest.Values) func(*rest.Request) (rest.Values, error) {
	return func(*rest.Request) (rest.Values, error) { return maps.Clone(v), nil }
}

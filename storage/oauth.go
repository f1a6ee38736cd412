package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"time"

	"catena/storage/fault"
)

// The directories that signing in by OAuth 2 stands on: what an administrator changes there
// holds at once.
const (
	oauthClients = "oauth2Clients"
	oauthTokens  = "oauth2Tokens"
	oauthCodes   = "oauth2Codes" // a secret table
)

const (
	oauthTokenKept = time.Hour
	oauthCodeKept  = 10 * time.Minute
)

// OAuthClient is a program that users let act for them.
type OAuthClient struct {
	Name, ID     string
	RedirectURIs []string
	AutoGrant    bool
	secret       string // how its secret is kept; "": it has none
}

// OAuthRequest asks for leave to act for a user.
type OAuthRequest struct {
	Client, RedirectURI, Challenge, Method string
}

// OAuthGrant asks for a token: with a code, a refresh token, or for a user who is known.
type OAuthGrant struct {
	Client, Secret              string
	Code, RedirectURI, Verifier string
	Refresh                     string
	User                        string
}

// OAuthToken lets a client act for a user until it expires.
type OAuthToken struct {
	Access, Refresh string
	Expires         time.Duration // from now
}

// oauthCode is how a code is kept until it is used.
type oauthCode struct {
	Client, User, RedirectURI, Challenge, Method string
	Expires                                      time.Time `json:"expires"`
}

func oauthError(code, text string) error { return fault.Invalid.Errorf("%s", text).WithCode(code) }

// oauthDirectory returns a directory with what only this package may see of it.
func (t *Tx) oauthDirectory(name string) (*Directory, error) {
	d, err := t.As(t.repo.System()).Directory(name)
	if err == nil {
		d.raw = true
	}
	return d, err
}

// oauthClient finds a client that is enabled.
func (t *Tx) oauthClient(id string) (*OAuthClient, error) {
	if id == "" {
		return nil, oauthError("invalid_request", "client_id is missing")
	}
	d, err := t.oauthDirectory(oauthClients)
	if err != nil {
		return nil, err
	}
	found, err := d.Find(DirectoryQuery{Equal: map[string]any{"clientId": id}, PageOptions: PageOptions{Limit: 1, CountLimit: -1}})
	if err != nil {
		return nil, err
	}
	if len(found.Entries) == 0 || found.Entries[0].Values["enabled"] == false {
		return nil, oauthError("invalid_client", "there is no client of this id")
	}
	e := found.Entries[0]
	c := &OAuthClient{Name: e.Text("name"), ID: id, AutoGrant: e.Values["autoGrant"] == true, secret: e.Text("clientSecret")}
	for uri := range strings.SplitSeq(e.Text("redirectURIs"), ",") {
		if uri = strings.TrimSpace(uri); uri != "" {
			c.RedirectURIs = append(c.RedirectURIs, uri)
		}
	}
	return c, nil
}

// redirectURI returns the address to go back to: the one asked for, if it is registered.
func (c *OAuthClient) redirectURI(asked string) (string, error) {
	if asked == "" && len(c.RedirectURIs) > 0 {
		asked = c.RedirectURIs[0]
	}
	if !slices.Contains(c.RedirectURIs, asked) || !safeRedirect(asked) {
		return "", oauthError("invalid_request", "redirect_uri is not one that the client has registered")
	}
	return asked, nil
}

// safeRedirect reports whether codes may be sent to an address: encrypted, on the same
// machine, or to a program that has a scheme of its own.
func safeRedirect(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil || u.Fragment != "" {
		return false
	}
	switch u.Scheme {
	case "https":
		return u.Host != ""
	case "http":
		return u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1"
	case "", "javascript", "data", "vbscript", "file", "blob", "about":
		return false
	}
	return true
}

// OAuthClient checks a request for leave and returns the client, where to go back to, and
// whether the user needs not be asked.
func (r *Repo) OAuthClient(ctx context.Context, as *Principal, q OAuthRequest) (c *OAuthClient, back string, granted bool, err error) {
	err = r.View(ctx, r.System(), func(t *Tx) error {
		if c, err = t.oauthClient(q.Client); err != nil {
			return err
		}
		if back, err = c.redirectURI(q.RedirectURI); err != nil {
			return err
		}
		switch {
		case q.Method != "" && q.Method != "plain" && q.Method != "S256":
			return oauthError("invalid_request", "code_challenge_method is neither S256 nor plain")
		case len(q.Challenge) > 128:
			return oauthError("invalid_request", "code_challenge is longer than 128 characters")
		}
		if granted = c.AutoGrant; granted || as.Name == "" {
			return nil
		}
		rows, err := t.oauthRows(q.Client, as.Name)
		granted = len(rows) > 0
		return err
	})
	return c, back, granted, err
}

// Authorize makes a code, good once and for ten minutes, by which a client gets a token.
func (r *Repo) Authorize(ctx context.Context, as *Principal, q OAuthRequest) (code string, err error) {
	if as.Name == "" || as.System {
		return "", ErrNobody
	}
	if as.ReadOnly {
		return "", errReadOnly()
	}
	code = secretText()
	return code, r.Update(ctx, r.System(), func(t *Tx) error {
		row := oauthCode{q.Client, as.Name, q.RedirectURI, q.Challenge, q.Method, t.now.Add(oauthCodeKept)}
		return t.secret(oauthCodes).Put(tokenHash(code), row)
	})
}

func secretText() string {
	secret := make([]byte, 32)
	rand.Read(secret)
	return base64.RawURLEncoding.EncodeToString(secret)
}

// OAuthToken carries out a grant. What is wrong with one has the code that OAuth 2 gives it.
func (r *Repo) OAuthToken(ctx context.Context, g OAuthGrant) (token *OAuthToken, err error) {
	if err := r.oauthSecret(ctx, g); err != nil {
		return nil, err
	}
	err = r.Update(ctx, r.System(), func(t *Tx) error {
		if _, err := t.oauthClient(g.Client); err != nil {
			return err
		}
		switch {
		case g.Code != "":
			token, err = t.oauthByCode(g)
		case g.Refresh != "":
			token, err = t.oauthRefresh(g)
		case g.User != "":
			token, err = t.oauthFor(g.Client, g.User)
		default:
			err = oauthError("invalid_request", "code, refresh_token or assertion is missing")
		}
		return err
	})
	return token, err
}

// oauthSecret checks the secret of a client that has one, as passwords are checked.
func (r *Repo) oauthSecret(ctx context.Context, g OAuthGrant) error {
	var c *OAuthClient
	err := r.View(ctx, r.System(), func(t *Tx) (err error) {
		c, err = t.oauthClient(g.Client)
		return err
	})
	if err != nil || c.secret == "" {
		return err
	}
	who, now := "oauth2 client "+c.ID, r.clock()
	mac := r.passwords.mac(who, c.secret+g.Secret)
	if _, ok := r.passwords.known(who, mac, now); ok {
		return nil
	}
	changes, err := r.passwords.admit(who, now)
	if err != nil {
		return err
	}
	if len(g.Secret) > 4096 {
		return oauthError("invalid_client", "client_secret is wrong")
	}
	ok, err := r.passwords.matches(ctx, c.secret, g.Secret)
	if err != nil {
		return err
	}
	if !ok {
		return oauthError("invalid_client", "client_secret is wrong")
	}
	r.passwords.settle(who, mac, nil, now, changes)
	return nil
}

func (t *Tx) oauthByCode(g OAuthGrant) (*OAuthToken, error) {
	var c oauthCode
	ok, err := t.secret(oauthCodes).Get(tokenHash(g.Code), &c)
	if err != nil {
		return nil, err
	}
	switch {
	case !ok || !t.now.Before(c.Expires) || c.Client != g.Client:
		return nil, oauthError("invalid_grant", "code is not valid")
	case c.RedirectURI != "" && c.RedirectURI != g.RedirectURI:
		return nil, oauthError("invalid_grant", "redirect_uri is not the one of the code")
	case !verified(c, g.Verifier):
		return nil, oauthError("invalid_grant", "code_verifier is wrong")
	}
	if err := t.secret(oauthCodes).Delete(tokenHash(g.Code)); err != nil {
		return nil, err
	}
	return t.oauthFor(g.Client, c.User)
}

// verified checks the proof that whoever has the code also asked for it.
func verified(c oauthCode, verifier string) bool {
	if c.Challenge == "" {
		return true
	}
	if c.Method == "S256" {
		sum := sha256.Sum256([]byte(verifier))
		verifier = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return subtle.ConstantTimeCompare([]byte(verifier), []byte(c.Challenge)) == 1
}

// oauthRows returns the tokens of a client for a user, expired ones too.
func (t *Tx) oauthRows(client, user string) ([]*DirectoryEntry, error) {
	d, err := t.oauthDirectory(oauthTokens)
	if err != nil {
		return nil, err
	}
	found, err := d.Find(DirectoryQuery{Equal: map[string]any{"clientId": client, "nuxeoLogin": user}, PageOptions: PageOptions{CountLimit: -1}})
	if err != nil {
		return nil, err
	}
	return found.Entries, nil
}

// oauthFor returns the token of a client for a user: the one there is until it expires.
func (t *Tx) oauthFor(client, user string) (*OAuthToken, error) {
	if _, err := t.PrincipalOf(user); err != nil {
		return nil, oauthError("invalid_grant", "the user does not exist")
	}
	rows, err := t.oauthRows(client, user)
	if err != nil {
		return nil, err
	}
	d, err := t.oauthDirectory(oauthTokens)
	if err != nil {
		return nil, err
	}
	for _, e := range rows {
		if left := oauthLeft(e, t.now); left > 0 {
			return &OAuthToken{e.Text("accessToken"), e.Text("refreshToken"), left}, nil
		}
		if err := d.Delete(e.ID); err != nil {
			return nil, err
		}
	}
	token := &OAuthToken{secretText(), secretText(), oauthTokenKept}
	_, err = d.Create(map[string]any{
		"serviceName": t.repo.name, "accessToken": token.Access, "refreshToken": token.Refresh, "clientId": client,
		"nuxeoLogin": user, "creationDate": t.now, "expirationTimeMilliseconds": t.now.Add(oauthTokenKept).UnixMilli(),
	})
	return token, err
}

// oauthLeft is how long a token still holds.
func oauthLeft(e *DirectoryEntry, now time.Time) time.Duration {
	made, _ := e.Values["creationDate"].(time.Time)
	return made.Add(oauthTokenKept).Sub(now)
}

// oauthRefresh replaces a token by another one. The old one ends, expired or not.
func (t *Tx) oauthRefresh(g OAuthGrant) (*OAuthToken, error) {
	d, err := t.oauthDirectory(oauthTokens)
	if err != nil {
		return nil, err
	}
	found, err := d.Find(DirectoryQuery{Equal: map[string]any{"refreshToken": g.Refresh}, PageOptions: PageOptions{Limit: 1, CountLimit: -1}})
	if err != nil {
		return nil, err
	}
	if len(found.Entries) == 0 || found.Entries[0].Text("clientId") != g.Client {
		return nil, oauthError("invalid_grant", "refresh_token is not valid")
	}
	e := found.Entries[0]
	if _, err := t.PrincipalOf(e.Text("nuxeoLogin")); err != nil {
		return nil, oauthError("invalid_grant", "the user does not exist")
	}
	token := &OAuthToken{secretText(), secretText(), oauthTokenKept}
	_, err = d.Update(e.ID, map[string]any{
		"accessToken": token.Access, "refreshToken": token.Refresh,
		"creationDate": t.now, "expirationTimeMilliseconds": t.now.Add(oauthTokenKept).UnixMilli(),
	})
	return token, err
}

// SignInOAuth returns whom an access token lets its client act for.
func (r *Repo) SignInOAuth(ctx context.Context, token string) (*Principal, error) {
	if token == "" || len(token) > maxTokenWord {
		return nil, errToken()
	}
	user := ""
	err := r.View(ctx, r.System(), func(t *Tx) (err error) {
		user, err = t.oauthUser(token)
		return err
	})
	if err != nil {
		return nil, err
	}
	p, err := r.Principal(ctx, user)
	if err != nil {
		return nil, firstError(errIfNot(err, fault.NotFound), errToken())
	}
	return p.by(func(t *Tx) (bool, error) {
		still, err := t.oauthUser(token)
		return still == user, errIfNot(err, fault.Denied)
	}), nil
}

// oauthUser returns whom a good access token is of.
func (t *Tx) oauthUser(token string) (string, error) {
	d, err := t.oauthDirectory(oauthTokens)
	if err != nil {
		return "", err
	}
	found, err := d.Find(DirectoryQuery{Equal: map[string]any{"accessToken": token}, PageOptions: PageOptions{Limit: 1, CountLimit: -1}})
	if err != nil {
		return "", firstError(errIfNot(err, fault.Invalid), errToken())
	}
	if len(found.Entries) == 0 || oauthLeft(found.Entries[0], t.now) <= 0 {
		return "", errToken()
	}
	e := found.Entries[0]
	if subtle.ConstantTimeCompare([]byte(e.Text("accessToken")), []byte(token)) != 1 {
		return "", errToken()
	}
	if _, err = t.oauthClient(e.Text("clientId")); err != nil {
		return "", firstError(errIfNot(err, fault.Invalid), errToken())
	}
	return e.Text("nuxeoLogin"), nil
}

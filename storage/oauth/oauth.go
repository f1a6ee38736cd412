// Package oauth lets programs act for users through OAuth 2: it checks their requests, issues codes and tokens, and
// tells which user a token stands for. Programs and tokens are entries of directories, so that what an administrator
// changes there holds at once.
//
// The authorization code flow with PKCE is supported, refresh tokens, and tokens for users who are signed in
// by other means. Codes are good once and for ten minutes. A code names the number of the user besides the name, so it ends with the user. Errors have the codes that RFC 6749 prescribes.
package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/internal/secret"
)

// The directories.
const (
	clients = "oauth2Clients"
	tokens  = "oauth2Tokens"
)

var codes = row.Secret{Name: "oauth2Codes"}

const (
	tokenKept = time.Hour
	codeKept  = 10 * time.Minute
	maxToken  = 200 // bytes
)

// Request asks for leave to act for a user.
type Request struct {
	Client, RedirectURI, Challenge, Method string
}

// Grant asks for a token: with a code, a refresh token, or for a user who is known.
type Grant struct {
	Client, Secret              string
	Code, RedirectURI, Verifier string
	Refresh                     string
	User                        string
}

// Token lets a client act for a user until it expires.
type Token struct {
	Access, Refresh string
	Expires         time.Duration // from now
}

// code is how a code is kept until it is used.
type code struct {
	Client, User                   string
	UserID                         int64
	RedirectURI, Challenge, Method string
	Expires                        time.Time `json:"expires"`
}

func refused(code fault.Code, text string) error {
	return fault.Invalid.New(text).WithCode(code)
}

func errToken() error { return fault.Denied.Errorf("the token is not valid") }

// kept returns a directory with what only this package may see of it.
func kept(tx *storage.Tx, name string) (*record.Directory, error) {
	return record.Inside(tx, name, row.Ordered{})
}

// Ask checks a request for leave and returns the client, where to go back to, and whether the
// user needs not be asked.
func Ask(ctx context.Context, repo *storage.Repo, as *storage.Principal, q Request) (c *Client, back string, granted bool, err error) {
	err = repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		if c, err = clientOf(tx, q.Client); err != nil {
			return err
		}
		if back, err = c.redirectURI(q.RedirectURI); err != nil {
			return err
		}
		switch {
		case q.Method != "" && q.Method != "plain" && q.Method != "S256":
			return refused(fault.CodeInvalidRequest, "code_challenge_method must be S256 or plain")
		case len(q.Challenge) > 128:
			return refused(fault.CodeInvalidRequest, "code_challenge is longer than 128 characters")
		}
		if granted = c.AutoGrant; granted || as.Name == "" {
			return nil
		}
		_, rows, err := rowsOf(tx, as.Name, q.Client)
		granted = len(rows) > 0
		return err
	})
	return c, back, granted, err
}

// Authorize makes a code, good once and for ten minutes, by which a client gets a token.
func Authorize(ctx context.Context, repo *storage.Repo, as *storage.Principal, q Request) (text string, err error) {
	if as.Name == "" || as.System {
		return "", storage.ErrNobody
	}
	text = secret.Text()
	return text, repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		if err := tx.As(as).MayWrite(); err != nil {
			return err
		}
		return tx.Secret(codes).Put(secret.Hash(text), code{
			Client: q.Client, User: as.Name, UserID: as.ID, RedirectURI: q.RedirectURI, Challenge: q.Challenge, Method: q.Method,
			Expires: tx.Now().Add(codeKept),
		})
	})
}

// Carry carries out a grant. What is wrong with one has the code that OAuth 2 gives it.
func Carry(ctx context.Context, repo *storage.Repo, g Grant) (token *Token, err error) {
	if err := checkSecret(ctx, repo, g); err != nil {
		return nil, err
	}
	err = repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		if _, err := clientOf(tx, g.Client); err != nil {
			return err
		}
		switch {
		case g.Code != "":
			token, err = byCode(tx, g)
		case g.Refresh != "":
			token, err = refresh(tx, g)
		case g.User != "":
			if _, err = actedFor(tx, g.User); err == nil {
				token, err = tokenFor(tx, g.Client, g.User)
			}
		default:
			err = refused(fault.CodeInvalidRequest, "code, refresh_token or assertion is missing")
		}
		return err
	})
	return token, err
}

func byCode(tx *storage.Tx, g Grant) (*Token, error) {
	var c code
	ok, err := tx.Secret(codes).Get(secret.Hash(g.Code), &c)
	if err != nil {
		return nil, err
	}
	switch {
	case !ok || !tx.Now().Before(c.Expires) || c.Client != g.Client:
		return nil, refused(fault.CodeInvalidGrant, "code is not valid")
	case c.RedirectURI != "" && c.RedirectURI != g.RedirectURI:
		return nil, refused(fault.CodeInvalidGrant, "redirect_uri differs from the one of the code")
	case !c.verified(g.Verifier):
		return nil, refused(fault.CodeInvalidGrant, "code_verifier is wrong")
	}
	p, err := actedFor(tx, c.User)
	if err == nil && p.ID != c.UserID {
		err = errUser()
	}
	if err := cmp.Or(err, tx.Secret(codes).Delete(secret.Hash(g.Code))); err != nil {
		return nil, err
	}
	return tokenFor(tx, g.Client, c.User)
}

func errUser() error { return refused(fault.CodeInvalidGrant, "the user does not exist") }

// actedFor returns the user whom a client asks to act for.
func actedFor(tx *storage.Tx, user string) (*storage.Principal, error) {
	p, err := storage.PrincipalOf(tx, user)
	if fault.Is(err, fault.NotFound) {
		err = errUser()
	}
	return p, err
}

// verified checks the proof that anyone who has the code also asked for it.
func (c *code) verified(verifier string) bool {
	if c.Challenge == "" {
		return true
	}
	if c.Method == "S256" {
		sum := sha256.Sum256([]byte(verifier))
		verifier = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return subtle.ConstantTimeCompare([]byte(verifier), []byte(c.Challenge)) == 1
}

// tokenFor returns the token of a client for a user who exists: the one there is until it expires.
func tokenFor(tx *storage.Tx, client, user string) (*Token, error) {
	d, rows, err := rowsOf(tx, user, client)
	if err != nil {
		return nil, err
	}
	for _, e := range rows {
		if left := left(e, tx.Now()); left > 0 {
			return &Token{e.Text("accessToken"), e.Text("refreshToken"), left}, nil
		}
		if err := d.Delete(e.ID); err != nil {
			return nil, err
		}
	}
	token, values := newToken(tx)
	values["serviceName"], values["clientId"], values["nuxeoLogin"] = tx.Repo().Name(), client, user
	_, err = d.Create(values)
	return token, err
}

// newToken makes a token, and what a row says of it.
func newToken(tx *storage.Tx) (*Token, map[string]any) {
	t := &Token{secret.Text(), secret.Text(), tokenKept}
	return t, map[string]any{
		"accessToken": t.Access, "refreshToken": t.Refresh,
		"creationDate": tx.Now(), "expirationTimeMilliseconds": tx.Now().Add(tokenKept).UnixMilli(),
	}
}

// left is how long a token still holds. One made by a clock that has been set back since does not: its client refreshes
// it, as it does when a token expires.
func left(e *record.Entry, now time.Time) time.Duration {
	made, _ := e.Values["creationDate"].(time.Time)
	if !storage.Recent(now, made, tokenKept) {
		return 0
	}
	return made.Add(tokenKept).Sub(now)
}

// refresh replaces a token by another one. The old one ends, expired or not.
func refresh(tx *storage.Tx, g Grant) (*Token, error) {
	d, e, err := one(tx, tokens, "refreshToken", g.Refresh)
	if err != nil {
		return nil, err
	}
	if e == nil || e.Text("clientId") != g.Client {
		return nil, refused(fault.CodeInvalidGrant, "refresh_token is not valid")
	}
	if _, err := actedFor(tx, e.Text("nuxeoLogin")); err != nil {
		return nil, err
	}
	token, values := newToken(tx)
	_, err = d.Update(e.ID, values)
	return token, err
}

// byToken is the kind of proof of who signed in by an access token.
const byToken = "oauth"

// Owner keeps the tokens of clients that act for users.
var Owner = storage.Owner{
	Name: "oauth", Sweep: sweep, Proofs: map[string]func(*storage.Tx, string) (bool, error){byToken: stands},
	Leave: func(tx *storage.Tx, user string) error { return EndAll(tx.As(tx.Repo().System()), user) },
}

// SignIn returns whom an access token lets its client act for.
func SignIn(ctx context.Context, repo *storage.Repo, token string) (*storage.Principal, error) {
	if token == "" || len(token) > maxToken {
		return nil, errToken()
	}
	known := row.Of[places](repo.Memory())
	var at place
	err := repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		d, err := kept(tx, tokens)
		if err != nil {
			return err
		}
		if err = storage.SignInAhead(tx, known.get(token).And(d.IndexRows("accessToken", token))); err != nil {
			return err
		}
		at, err = byAccess(tx, token)
		return err
	})
	if err != nil {
		return nil, err
	}
	if repo.Shared() {
		known.put(token, at.rows)
	}
	p, err := repo.Principal(ctx, at.user)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, errToken()
	case err != nil:
		return nil, err
	}
	return p.While(storage.Proof{Kind: byToken, Name: at.entry + " " + at.user}, at.rows), nil
}

// byAccess finds a good access token.
func byAccess(tx *storage.Tx, token string) (at place, err error) {
	d, e, err := one(tx, tokens, "accessToken", token)
	if err != nil {
		return at, err
	}
	if e == nil || subtle.ConstantTimeCompare([]byte(e.Text("accessToken")), []byte(token)) != 1 {
		return at, errToken()
	}
	c, err := good(tx, e)
	if err != nil {
		return at, err
	}
	if c == nil {
		return at, errToken()
	}
	return place{e.ID, e.Text("nuxeoLogin"), d.Row(e.ID).And(c.rows)}, nil
}

// good returns the client of a token that has not expired; nil if it has, or the client may have none.
func good(tx *storage.Tx, e *record.Entry) (*Client, error) {
	if left(e, tx.Now()) <= 0 {
		return nil, nil
	}
	c, err := clientOf(tx, e.Text("clientId"))
	if fault.Is(err, fault.Invalid) {
		return nil, nil
	}
	return c, err
}

// stands reports whether what somebody signed in by still is: the entry of the id that the name of a proof
// begins with, of the user whom it ends with. A token that is refreshed is the same entry.
func stands(tx *storage.Tx, name string) (bool, error) {
	id, user, _ := strings.Cut(name, " ")
	d, err := kept(tx, tokens)
	if err != nil {
		return false, err
	}
	e, err := d.Entry(id)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil || e.Text("nuxeoLogin") != user {
		return false, err
	}
	c, err := good(tx, e)
	return c != nil, err
}

// sweep removes codes that nobody used in time.
func sweep(ctx context.Context, repo *storage.Repo) error {
	return repo.SweepExpired(ctx, codes, codeKept)
}

// Package signin determines which user a request is made for, from a password, a browser session, a key or a token.
// What each of these is, and how long it is good, is for credential and oauth.
package signin

import (
	"context"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/oauth"
)

const (
	// keyPrefix begins every API key.
	keyPrefix = "cat_"
	// jwtIssuer is who signs the JSON web tokens that clients of the platform make.
	jwtIssuer = "nuxeo"
	// maxJWT bounds a JSON web token, in bytes.
	maxJWT = 8 << 10
)

// Authenticator signs users of a repository in.
type Authenticator struct {
	repo   *storage.Repo
	jwtKey []byte
	now    func() time.Time
}

// New makes an authenticator. JSON web tokens are accepted if they are signed with jwtSecret; "": none are.
func New(repo *storage.Repo, jwtSecret string) *Authenticator {
	return &Authenticator{repo: repo, jwtKey: []byte(jwtSecret), now: time.Now}
}

// Password returns whose name and password these are.
func (a *Authenticator) Password(ctx context.Context, user, password string) (*storage.Principal, error) {
	return credential.SignIn(ctx, a.repo, user, password)
}

// Token returns who a device token or an API key stands for.
func (a *Authenticator) Token(ctx context.Context, token string) (*storage.Principal, error) {
	if strings.HasPrefix(token, keyPrefix) {
		return credential.SignInKey(ctx, a.repo, token)
	}
	return credential.SignInToken(ctx, a.repo, token)
}

// Device returns who a device token acts for, and nobody for an API key: addresses,
// where these tokens may stand, end up in the logs and histories of others.
func (a *Authenticator) Device(ctx context.Context, token string) (*storage.Principal, error) {
	return credential.SignInToken(ctx, a.repo, token)
}

// Bearer returns who a bearer token acts for: an API key, a JSON web token if these
// are accepted, or a token given out by OAuth 2.
func (a *Authenticator) Bearer(ctx context.Context, token string) (*storage.Principal, error) {
	switch {
	case strings.HasPrefix(token, keyPrefix):
		return credential.SignInKey(ctx, a.repo, token)
	// A JSON web token has three parts; other tokens of this server have no dots.
	case strings.Count(token, ".") == 2:
		return a.JWT(ctx, token)
	}
	return oauth.SignIn(ctx, a.repo, token)
}

// Session returns who a browser's token stands for.
func (a *Authenticator) Session(ctx context.Context, token string) (*storage.Principal, error) {
	return credential.SignInSession(ctx, a.repo, token)
}

// JWT returns the user whom a JSON web token names, if it is signed with the shared secret (HS512) and has not expired.
func (a *Authenticator) JWT(ctx context.Context, token string) (*storage.Principal, error) {
	wrong := fault.Denied.Errorf("the token is not valid")
	if len(a.jwtKey) == 0 || len(token) > maxJWT {
		return nil, wrong
	}
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return a.jwtKey, nil },
		// The method is fixed: a token must not choose how it is verified.
		jwt.WithValidMethods([]string{"HS512"}), jwt.WithIssuer(jwtIssuer), jwt.WithTimeFunc(a.now))
	if err != nil || claims.Subject == "" {
		return nil, wrong
	}
	p, err := a.repo.Principal(ctx, claims.Subject)
	// A valid signature for an unknown user looks like an invalid one, so that nobody learns which users
	// exist.
	if fault.Is(err, fault.NotFound) {
		err = wrong
	}
	return p, err
}

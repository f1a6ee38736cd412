package engine

import (
	"context"

	"github.com/golang-jwt/jwt/v5"

	"catena/storage/fault"
	"catena/storage/oauth"
)

// jwtIssuer is who signs the JSON web tokens that clients of the platform make.
const jwtIssuer = "nuxeo"

// maxJWT bounds a token, in bytes.
const maxJWT = 8 << 10

// SignInJWT returns the user whom a JSON web token names, if it is signed with the shared
// secret (HS512) and not over.
func (e *Engine) SignInJWT(ctx context.Context, token string) (*Principal, error) {
	wrong := fault.Denied.Errorf("the token is not valid")
	if len(e.jwtKey) == 0 || len(token) > maxJWT {
		return nil, wrong
	}
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return e.jwtKey, nil },
		jwt.WithValidMethods([]string{"HS512"}), jwt.WithIssuer(jwtIssuer), jwt.WithTimeFunc(e.now))
	if err != nil || claims.Subject == "" {
		return nil, wrong
	}
	p, err := e.PrincipalOf(ctx, claims.Subject)
	if fault.Is(err, fault.NotFound) {
		err = wrong
	}
	return p, err
}

// Names of storage's types of signing in by OAuth 2.
type (
	// OAuthClient is a program that users let act for them.
	OAuthClient = oauth.Client
	// OAuthGrant asks for a token.
	OAuthGrant = oauth.Grant
	// OAuthRequest asks for leave to act for a user.
	OAuthRequest = oauth.Request
	// OAuthToken lets a client act for a user.
	OAuthToken = oauth.Token
)

// OAuthClient checks a request for leave to act for a user, and returns the client, where to
// go back to, and whether the user needs not be asked.
func (e *Engine) OAuthClient(ctx context.Context, as *Principal, q OAuthRequest) (c *OAuthClient, back string, granted bool, err error) {
	return oauth.Ask(ctx, e.repo, as, q)
}

// Authorize makes a code by which a client gets a token for a user.
func (e *Engine) Authorize(ctx context.Context, as *Principal, q OAuthRequest) (string, error) {
	return oauth.Authorize(ctx, e.repo, as, q)
}

// OAuthToken carries out a grant.
func (e *Engine) OAuthToken(ctx context.Context, g OAuthGrant) (*OAuthToken, error) {
	return oauth.Carry(ctx, e.repo, g)
}

package outside

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/vault"
)

// used is a credential with its secret, for one request. It must not be stored or logged, and is not
// kept longer than the request.
type used struct {
	vault.Credential
	repository, secret string
}

// use finds a credential for a request to an address; nil for no name.
func use(tx *storage.Tx, name, chain string, address *url.URL) (*used, error) {
	if name == "" {
		return nil, nil
	}
	c, secret, err := vault.Use(tx, name, chain, address)
	if err != nil {
		return nil, err
	}
	return &used{c, tx.Repo().Name(), secret}, nil
}

// tokenKey names the token of one revision of a credential. With the revision, a credential that was
// changed gets a new token at once.
type tokenKey struct {
	repository, name string
	revision         int64
}

// token is what a service gave for client id and secret.
type token struct {
	typ, access string
	until       time.Time
}

const (
	tokenMargin = time.Minute // before its end, a token is not used any longer
	// Of tokens whose service does not say when they end.
	tokenLife = 5 * time.Minute
	// Only the tokens of outdated or deleted credentials pile up, so dropping all at this number
	// costs a few requests, rarely.
	maxTokens = 1000
)

func (u *used) key() tokenKey { return tokenKey{u.repository, u.Name, u.Revision} }

// signIn adds a credential to the headers of a request.
func (k *caller) signIn(ctx context.Context, u *used, h http.Header) error {
	if u == nil {
		return nil
	}
	switch u.Kind {
	case vault.Basic:
		r := http.Request{Header: h}
		r.SetBasicAuth(u.User, u.secret)
	case vault.Bearer:
		h.Set("Authorization", "Bearer "+u.secret)
	case vault.Header:
		h.Set(u.Header, u.secret)
	case vault.OAuth2:
		t, err := k.token(ctx, u)
		if err != nil {
			return err
		}
		h.Set("Authorization", t.typ+" "+t.access)
	}
	return nil
}

// token returns a token for a credential, a kept one as long as it is good. The lock is not held while
// the token is fetched: two calls may fetch one each, which is harmless, and a slow service does not
// block the calls to others. Errors never carry what the service wrote, which may repeat the secret.
func (k *caller) token(ctx context.Context, u *used) (token, error) {
	k.mu.Lock()
	t, ok := k.tokens[u.key()]
	k.mu.Unlock()
	if ok && time.Now().Before(t.until) {
		return t, nil
	}
	config := clientcredentials.Config{ClientID: u.User, ClientSecret: u.secret, TokenURL: u.TokenURL, Scopes: u.Scopes}
	got, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, k.Client.HTTP()))
	if err != nil {
		var refused *oauth2.RetrieveError
		if errors.As(err, &refused) && refused.Response != nil {
			return t, fault.Denied.Errorf("credential %s: the token was refused with status %d", u.Name, refused.Response.StatusCode)
		}
		var known *fault.Error
		if errors.As(err, &known) {
			return t, known
		}
		return t, fault.Unavailable.Errorf("credential %s: no token", u.Name)
	}
	t = token{got.Type(), got.AccessToken, got.Expiry.Add(-tokenMargin)}
	if got.Expiry.IsZero() {
		t.until = time.Now().Add(tokenLife)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.tokens) >= maxTokens {
		clear(k.tokens)
	}
	k.tokens[u.key()] = t
	return t, nil
}

// forget has the next request ask for another token.
func (k *caller) forget(u *used) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.tokens, u.key())
}

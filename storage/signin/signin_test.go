package signin_test

import (
	"context"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/signin"
	"catena/storage/storagetest"
)

// TestAuthenticator shows each way of signing in what is meant for it, and what is meant for another.
func TestAuthenticator(t *testing.T) {
	w := storagetest.NewWorld(t)
	w.Write(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ann"}, "pw") })
	ann, err := w.Principal(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	var key, device string
	w.Write(ann, func(tx *storage.Tx) (err error) {
		if _, key, err = credential.CreateKey(tx, credential.Key{User: "ann", Scope: credential.ScopeWrite, Name: "test"}); err != nil {
			return err
		}
		device, err = credential.AcquireToken(tx, credential.DeviceToken{Application: "Drive", Device: "d", Permission: "ReadWrite"})
		return err
	})
	session, _, err := credential.OpenSession(t.Context(), w.Repo, "ann", "pw")
	if err != nil {
		t.Fatal(err)
	}
	signed := func(secret, subject string, lasts time.Duration) string {
		claims := jwt.RegisteredClaims{Issuer: "nuxeo", Subject: subject, ExpiresAt: jwt.NewNumericDate(time.Now().Add(lasts))}
		text, err := jwt.NewWithClaims(jwt.SigningMethodHS512, claims).SignedString([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	a, without := signin.New(w.Repo, "shared"), signin.New(w.Repo, "")
	for _, test := range []struct {
		name string
		by   func(ctx context.Context, token string) (*storage.Principal, error)
		text string
		good bool
	}{
		{"password", func(ctx context.Context, text string) (*storage.Principal, error) {
			return a.Password(ctx, "ann", text)
		}, "pw", true},
		{"wrong password", func(ctx context.Context, text string) (*storage.Principal, error) {
			return a.Password(ctx, "ann", text)
		}, "no", false},
		{"key as token", a.Token, key, true},
		{"device as token", a.Token, device, true},
		{"device in an address", a.Device, device, true},
		{"key in an address", a.Device, key, false},
		{"key as bearer", a.Bearer, key, true},
		{"device as bearer", a.Bearer, device, false},
		{"session", a.Session, session, true},
		{"session as bearer", a.Bearer, session, false},
		{"web token", a.Bearer, signed("shared", "ann", time.Minute), true},
		{"web token of another secret", a.Bearer, signed("other", "ann", time.Minute), false},
		{"web token that has expired", a.Bearer, signed("shared", "ann", -time.Minute), false},
		{"web token of nobody", a.Bearer, signed("shared", "eve", time.Minute), false},
		{"web token without a secret", without.Bearer, signed("", "ann", time.Minute), false},
	} {
		p, err := test.by(t.Context(), test.text)
		if good := err == nil && p.Name == "ann"; good != test.good || !good && !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %+v, %v; want good: %t", test.name, p, err, test.good)
		}
	}
}

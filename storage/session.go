package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"time"

	"catena/storage/fault"
)

const (
	sessionsTable = "sessions"
	sessionKept   = 12 * time.Hour
)

// sessionRow is a browser that signed in, kept under the hash of its token.
type sessionRow struct {
	User     string
	Password []byte    // hash of the password's hash: a new password ends the session
	Expires  time.Time `json:"expires"`
}

func errSession() error { return fault.Denied.Errorf("the session is not valid") }

// OpenSession checks a password as SignIn does and returns a token that stands for it until
// expires, the end by EndSession, or a change of the password.
func (r *Repo) OpenSession(ctx context.Context, user, password string) (token string, expires time.Time, err error) {
	p, err := r.SignIn(ctx, user, password)
	if err != nil {
		return "", expires, err
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	token = base64.RawURLEncoding.EncodeToString(secret)
	expires = r.clock().UTC().Add(sessionKept).Truncate(time.Second)
	return token, expires, r.Update(ctx, r.System(), func(t *Tx) error {
		sum, err := t.passwordSum(p.Name)
		if err != nil {
			return err
		}
		return t.secret(sessionsTable).Create(sessionName(token), sessionRow{p.Name, sum, expires})
	})
}

// SignInSession returns who a session's token stands for.
func (r *Repo) SignInSession(ctx context.Context, token string) (*Principal, error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(32) {
		return nil, errSession()
	}
	var row sessionRow
	var sum []byte
	err := r.View(ctx, r.System(), func(t *Tx) error {
		ok, err := t.secret(sessionsTable).Get(sessionName(token), &row)
		if err != nil || !ok {
			return firstError(err, errSession())
		}
		sum, err = t.passwordSum(row.User)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !r.clock().Before(row.Expires) || subtle.ConstantTimeCompare(sum, row.Password) != 1 {
		return nil, errSession()
	}
	p, err := r.Principal(ctx, row.User)
	if err != nil {
		return nil, firstError(errIfNot(err, fault.NotFound), errSession())
	}
	same := passwordIs(row.User, sum)
	return p.by(func(t *Tx) (bool, error) {
		if ok, err := t.secret(sessionsTable).Get(sessionName(token), &sessionRow{}); err != nil || !ok {
			return false, err
		}
		return same(t)
	}), nil
}

// EndSession ends the session of a token, which may be over already.
func (r *Repo) EndSession(ctx context.Context, token string) error {
	return r.Update(ctx, r.System(), func(t *Tx) error {
		return t.secret(sessionsTable).Delete(sessionName(token))
	})
}

func sessionName(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// passwordSum tells the passwords of a user apart without giving them away. Nearly every transaction asks for
// it, so it is of the row as it is stored.
func (t *Tx) passwordSum(user string) ([]byte, error) {
	row, err := t.secret(passwordsTable).row(user)
	if err != nil || row == nil {
		return nil, firstError(err, errSession())
	}
	sum := sha256.Sum256(append(append(make([]byte, 0, 256), "session "...), row...))
	return sum[:], nil
}

package credential

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/password"
	"catena/storage/internal/row"
	"catena/storage/internal/secret"
)

var sessions = row.Secret{Name: "sessions"}

const sessionKept = 12 * time.Hour

// sessionRow is a browser that signed in, kept under the hash of its token.
type sessionRow struct {
	User     string
	Password []byte    // hash of the password's hash: a new password ends the session
	Expires  time.Time `json:"expires"`
	Began    time.Time `json:"began,omitzero"`
}

// Session is a browser in which a user has signed in. Its id is no secret: nobody signs in by it.
type Session struct {
	ID      string    `json:"id"`
	Began   time.Time `json:"began,omitzero"` // zero: a version of the program began it that did not note when
	Expires time.Time `json:"expires"`
	Current bool      `json:"current,omitempty"` // the caller is signed in by it
}

// Sessions returns the sessions of the caller that stand, those that end last first.
func Sessions(tx *storage.Tx) ([]Session, error) {
	all := []Session{}
	for id, raw := range tx.Secret(sessions).Scan("", "", false, 0) {
		var s sessionRow
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fault.Internal.Errorf("session: %w", err)
		}
		if s.User != tx.Principal().Name || !tx.Now().Before(s.Expires) {
			continue
		}
		stands, err := passwordIs(tx, s.User, s.Password)
		if err != nil {
			return nil, err
		}
		if stands {
			proof := tx.Principal().By
			all = append(all, Session{id, s.Began, s.Expires, proof.Kind == bySession && proof.Name == id})
		}
	}
	slices.SortStableFunc(all, func(a, b Session) int { return b.Expires.Compare(a.Expires) })
	return all, tx.Err()
}

// EndOwnSession ends a session of the caller by its id.
func EndOwnSession(tx *storage.Tx, id string) error {
	var s sessionRow
	ok, err := tx.Secret(sessions).Get(id, &s)
	if err != nil {
		return err
	}
	if !ok || s.User != tx.Principal().Name {
		return fault.NotFound.Errorf("session %s", id)
	}
	return tx.Secret(sessions).Delete(id)
}

func errSession() error { return fault.Denied.Errorf("the session is not valid") }

// OpenSession checks a password as SignIn does and returns a token that stands for it until
// expires, the end by EndSession, or a change of the password.
func OpenSession(ctx context.Context, repo *storage.Repo, user, text string) (token string, expires time.Time, err error) {
	p, err := SignIn(ctx, repo, user, text)
	if err != nil {
		return "", expires, err
	}
	token = secret.Text()
	err = repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		_, sum, err := kept(tx, p.Name)
		if err != nil || sum == nil {
			return cmp.Or(err, errSession())
		}
		expires = tx.Now().Add(sessionKept).Truncate(time.Second)
		return tx.Secret(sessions).Create(sessionName(token), sessionRow{p.Name, sum, expires, tx.Now()})
	})
	return token, expires, err
}

// SignInSession returns who a session's token stands for.
func SignInSession(ctx context.Context, repo *storage.Repo, token string) (*storage.Principal, error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(32) {
		return nil, errSession()
	}
	var s sessionRow
	name := sessionName(token)
	err := repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		ok, err := readSession(tx, name, &s)
		if err == nil && (!ok || !tx.Now().Before(s.Expires)) {
			err = errSession()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p, err := principal(ctx, repo, s.User, errSession)
	if err != nil {
		return nil, err
	}
	return p.While(storage.Proof{Kind: bySession, Name: name}, storage.SecretKey(sessions, name), storage.SecretKey(password.Users, s.User)), nil
}

// sessionStands reports whether a session is there, and the password that by which it began.
func sessionStands(tx *storage.Tx, name string) (bool, error) {
	return readSession(tx, name, &sessionRow{})
}

// readSession reads a session, and reports whether it stands.
func readSession(tx *storage.Tx, name string, s *sessionRow) (bool, error) {
	ok, err := tx.Secret(sessions).Get(name, s)
	if err != nil || !ok {
		return false, err
	}
	return passwordIs(tx, s.User, s.Password)
}

// EndSession ends the session of a token, which may be over already.
func EndSession(ctx context.Context, repo *storage.Repo, token string) error {
	return repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		return tx.Secret(sessions).Delete(sessionName(token))
	})
}

func sessionName(token string) string {
	return base64.RawURLEncoding.EncodeToString(secret.Sum(token))
}

package credential

import (
	"cmp"
	"context"
	"encoding/base64"
	"iter"
	"slices"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/password"
	"catena/storage/internal/row"
	"catena/storage/internal/secret"
)

var (
	sessions   = row.Secret{Name: "sessions"}   // by the hash of the token
	sessionsOf = row.Secret{Name: "sessionsOf"} // the sessions of a user, by user and hash
)

// bySessions finds the sessions to sign in by.
var bySessions = signer[sessionRow]{table: sessions, good: func(tx *storage.Tx, s *sessionRow) (bool, error) { return passwordIs(tx, s.User, s.Password) }}

const sessionKept = 12 * time.Hour

// listedFrom is the row of sessionsOf with the instant from which every session that began is listed there: those that
// began before, by an earlier version of the program, have all ended sessionKept later. No user has the name "".
const listedFrom = "\x00"

// listing is a row of sessionsOf, which ends with the session.
type listing struct {
	Expires time.Time `json:"expires"`
}

func ownSession(user, name string) string { return user + "\x00" + name }

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
	user := tx.Principal().Name
	if user == "" {
		return nil, storage.ErrNobody
	}
	all := []Session{}
	for name, err := range sessionNames(tx, user) {
		if err != nil {
			return nil, err
		}
		var s sessionRow
		stands, err := bySessions.read(tx, name, &s)
		if err != nil {
			return nil, err
		}
		if stands && s.User == user && tx.Now().Before(s.Expires) {
			proof := tx.Principal().By
			all = append(all, Session{name, s.Began, s.Expires, proof.Kind == bySession && proof.Name == name})
		}
	}
	slices.SortStableFunc(all, func(a, b Session) int { return b.Expires.Compare(a.Expires) })
	return all, nil
}

// sessionNames walks the names of the sessions of a user: while there may be some that are not listed, also others.
func sessionNames(tx *storage.Tx, user string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var from time.Time
		listed, err := tx.Secret(sessionsOf).Get(listedFrom, &from)
		if err != nil {
			yield("", err)
			return
		}
		rows := tx.Secret(sessions).Scan("", "", false, 0)
		if listed && !tx.Now().Before(from.Add(sessionKept)) {
			rows = tx.Secret(sessionsOf).Scan(user+"\x00", user+"\x01", false, 0)
		}
		for key := range rows {
			if !yield(strings.TrimPrefix(key, user+"\x00"), nil) {
				return
			}
		}
		if err := tx.Err(); err != nil {
			yield("", err)
		}
	}
}

// listSessions notes that sessions are listed by user from now on; in a store without sessions all are.
func listSessions(ctx context.Context, repo *storage.Repo) error {
	return repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		var from time.Time
		done, err := tx.Secret(sessionsOf).Get(listedFrom, &from)
		if err != nil || done {
			return err
		}
		for range tx.Secret(sessions).Scan("", "", false, 1) {
			from = tx.Now()
		}
		return cmp.Or(tx.Err(), tx.Secret(sessionsOf).Put(listedFrom, from))
	})
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
	return endSession(tx, s.User, id)
}

// endSession removes a session.
func endSession(tx *storage.Tx, user, name string) error {
	storage.Ends(tx)
	return cmp.Or(tx.Secret(sessions).Delete(name), tx.Secret(sessionsOf).Delete(ownSession(user, name)))
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
		name := sessionName(token)
		return cmp.Or(tx.Secret(sessions).Create(name, sessionRow{p.Name, sum, expires, tx.Now()}), tx.Secret(sessionsOf).Put(ownSession(p.Name, name), listing{expires}))
	})
	return token, expires, err
}

// SignInSession returns who a session's token stands for.
func SignInSession(ctx context.Context, repo *storage.Repo, token string) (*storage.Principal, error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(32) {
		return nil, errSession()
	}
	name := sessionName(token)
	s, stands, err := bySessions.row(ctx, repo, name)
	if err != nil {
		return nil, err
	}
	if !stands || !repo.Internal(row.Ordered{}).Clock().Before(s.Expires) {
		return nil, errSession()
	}
	p, err := principal(ctx, repo, s.User, errSession)
	if err != nil {
		return nil, err
	}
	return p.While(storage.Proof{Kind: bySession, Name: name}, storage.Rows(storage.SecretKey(sessions, name), storage.SecretKey(password.Users, s.User))), nil
}

// sessionStands reports whether a session is there, and the password that by which it began.
func sessionStands(tx *storage.Tx, name string) (bool, error) {
	return bySessions.read(tx, name, &sessionRow{})
}

// EndSession ends the session of a token, which may be over already.
func EndSession(ctx context.Context, repo *storage.Repo, token string) error {
	return repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		var s sessionRow
		name := sessionName(token)
		if ok, err := tx.Secret(sessions).Get(name, &s); err != nil || !ok {
			return err
		}
		return endSession(tx, s.User, name)
	})
}

func sessionName(token string) string {
	return base64.RawURLEncoding.EncodeToString(secret.Sum(token))
}

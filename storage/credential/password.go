// Package credential keeps what people sign in with besides their passwords: API keys, device tokens, browser
// sessions and invitations. It says whom each stands for, and decides who makes, sees and ends them; what OAuth 2
// hands out is package oauth's.
//
// Every way to sign in ends in a principal with a proof: what it signed in by, as a kind and a name. Each
// transaction asks the owner of the kind whether the proof is still good (storage.Proven), so that a key that
// is revoked, a password that is changed or a session that is ended stops requests that are already on their
// way.
//
// Guessing passwords is slowed down by storage/internal/password,
// which bounds the failures for a name, for an address, and for both together.
package credential

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/password"
	"catena/storage/internal/row"
	"catena/storage/people"
)

func errSignIn() error { return fault.Denied.Errorf("wrong user name or password") }

// SignIn checks a password and returns who signed in. A wrong one, or an unknown user, is Denied. Failures are counted
// for the name and the address that WithClient says together, and are few in a day for one name, and from one address;
// of what is beyond nothing is looked at. Addresses and devices that the user signed in from before have a budget of
// their own, which strangers cannot use up.
func SignIn(ctx context.Context, repo *storage.Repo, user, text string) (*storage.Principal, error) {
	// Nothing that long was ever set, and hashing it would cost time.
	if user == "" || text == "" || len(user) > 255 || len(text) > password.MaxLength {
		return nil, errSignIn()
	}
	a := password.Of(repo.Memory()).Attempt(user, text)
	defer a.Done()
	sum, ok, err := lately(ctx, repo, a, user)
	if err != nil {
		return nil, err
	}
	if ok {
		return signedIn(ctx, repo, user, sum)
	}
	var row password.Row
	var from password.Origin
	var seen sighting
	var stored map[password.Key]password.Stored
	err = repo.View(ctx, repo.System(), func(tx *storage.Tx) (err error) {
		if row, sum, err = kept(tx, user); err == nil {
			from, seen, err = origin(tx, user, sum)
		}
		if err == nil {
			stored, err = takeIn(tx, a, from)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := a.Admit(from); err != nil {
		report(ctx, repo, a.Alarm())
		return nil, err
	}
	if ok, err = a.Matches(ctx, row.Hash, text); err != nil {
		return nil, err
	}
	if !ok {
		wrong(ctx, repo, a, from)
		return nil, errSignIn()
	}
	p, err := signedIn(ctx, repo, user, sum)
	if err == nil {
		a.Settle(sum)
		right(ctx, repo, a, from, stored)
		seen.remember(ctx, repo, user)
	}
	return p, err
}

// lately reports whether a password was right a moment ago. It need not be hashed again then: clients with Basic
// authentication send the password each time.
func lately(ctx context.Context, repo *storage.Repo, a *password.Attempt, user string) (sum []byte, ok bool, err error) {
	if sum, ok, err = a.Known(ctx); err != nil || !ok || repo.Remembers(ctx) {
		return sum, ok, err
	}
	// Another process may have changed it.
	err = repo.View(ctx, repo.System(), func(tx *storage.Tx) (err error) {
		if err = storage.SignInAhead(tx, storage.Rows(storage.SecretKey(password.Users, user))); err == nil {
			ok, err = passwordIs(tx, user, sum)
		}
		return err
	})
	return sum, ok, err
}

// signedIn returns who signed in by a password, as long as it is the user's.
func signedIn(ctx context.Context, repo *storage.Repo, user string, sum []byte) (*storage.Principal, error) {
	p, err := principal(ctx, repo, user, errSignIn)
	if err != nil {
		return nil, err
	}
	return row.Of[signedInCache](repo.Memory()).as(p, user, sum), nil
}

// signedInCache holds who signed in by a password lately, since programs send theirs with each request. Whether it still is the
// user's, each transaction finds out (passwordStands).
type signedInCache struct {
	mu     sync.RWMutex
	byUser map[string]signedInBy
}

type signedInBy struct {
	of, as *storage.Principal // the user, and the user as long as the password is that of sum
	sum    []byte
}

// as returns p as long as the password of a user is that of a sum.
func (c *signedInCache) as(p *storage.Principal, user string, sum []byte) *storage.Principal {
	c.mu.RLock()
	known := c.byUser[user]
	c.mu.RUnlock()
	if known.of == p && bytes.Equal(known.sum, sum) {
		return known.as
	}
	by := storage.Proof{Kind: byPassword, Name: base64.RawURLEncoding.EncodeToString(sum) + " " + user}
	known = signedInBy{p, p.While(by, storage.Rows(storage.SecretKey(password.Users, user))), sum}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byUser == nil || len(c.byUser) >= mostDecoded {
		c.byUser = map[string]signedInBy{}
	}
	c.byUser[user] = known
	return known.as
}

// passwordStands reports whether a user's password is still that of a sum, which stands before the user's name.
func passwordStands(tx *storage.Tx, name string) (bool, error) {
	text, user, _ := strings.Cut(name, " ")
	sum, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return false, nil //nolint:nilerr // no proof of a password
	}
	return passwordIs(tx, user, sum)
}

// passwordIs reports whether a user's password is still that of a sum.
func passwordIs(tx *storage.Tx, user string, sum []byte) (bool, error) {
	row, err := tx.Secret(password.Users).Row(user)
	return row != nil && subtle.ConstantTimeCompare(password.Sum(row), sum) == 1, err
}

// kept returns how a user's password is kept, and its sum; nothing, if the user has none.
func kept(tx *storage.Tx, user string) (row password.Row, sum []byte, err error) {
	stored, err := tx.Secret(password.Users).Row(user)
	if err != nil || stored == nil {
		return row, nil, err
	}
	if err := json.Unmarshal(stored, &row); err != nil {
		return row, nil, fault.Internal.Errorf("password of %s: %w", user, err)
	}
	return row, password.Sum(stored), nil
}

// principal returns whom a credential stands for; if that user is gone, the error that refused makes: every request asks.
func principal(ctx context.Context, repo *storage.Repo, user string, refused func() error) (*storage.Principal, error) {
	p, err := repo.Principal(ctx, user)
	if fault.Is(err, fault.NotFound) {
		err = refused()
	}
	return p, err
}

// ChangePassword gives the principal another password, if the old one is right.
func ChangePassword(tx *storage.Tx, old, text string) error {
	if err := tx.MayWrite(); err != nil {
		return err
	}
	if text == "" {
		return fault.Invalid.Errorf("password: the new password must not be empty").In("newPassword")
	}
	u, err := people.Lookup(tx, tx.Principal().Name)
	if err != nil {
		return err
	}
	a, from := password.Of(tx.Repo().Memory()).Attempt(u.Username, old), password.Origin{Source: "signed in"}
	if _, err := takeIn(tx.As(tx.Repo().System()), a, from); err != nil {
		return err
	}
	if err := a.Admit(from); err != nil {
		return err
	}
	row, sum, err := kept(tx, u.Username)
	if err != nil {
		return err
	}
	ok := false
	if row.Hash != "" && len(old) <= password.MaxLength {
		if ok, err = a.Matches(tx.Context(), row.Hash, old); err != nil {
			return err
		}
	}
	if !ok {
		if tx.Repo().Shared() {
			wrong(tx.Context(), tx.Repo(), a, from)
		}
		return fault.Denied.Errorf("password: the old password is wrong").WithCode(fault.CodeNotSignedIn).In("oldPassword")
	}
	a.Settle(sum)
	return people.SetPassword(tx, u.Username, text)
}

// HashPassword makes the text to keep for a password that is no user's, of a link for example.
func HashPassword(ctx context.Context, repo *storage.Repo, text string) (string, error) {
	return password.Of(repo.Memory()).Hash(ctx, text)
}

// GuessPassword reports whether a text made by HashPassword is that of the password, which is
// no user's but of a link for example. After five wrong ones in a minute from an address, and 7,200 in a day from
// anywhere, it looks at no more and says how long to wait. What was counted stays so, whatever becomes of the transaction
// around.
func GuessPassword(ctx context.Context, repo *storage.Repo, kept, text string) (ok bool, wait time.Duration, err error) {
	a := password.Of(repo.Memory()).Guess(kept, text)
	defer a.Done()
	if _, ok, err := a.Known(ctx); ok || err != nil {
		return ok, 0, err
	}
	from := stranger(ctx)
	var stored map[password.Key]password.Stored
	if repo.Shared() { // in a transaction of its own: that around must not fail because others guess as well
		limited, cancel := context.WithTimeout(ctx, sharedWait)
		err := repo.View(limited, repo.System(), func(tx *storage.Tx) (err error) {
			stored, err = takeIn(tx, a, from)
			return err
		})
		if cancel(); err != nil {
			repo.Log().Debug("counters of wrong passwords cannot be read", "err", err)
		}
	}
	if wait = a.Wait(from); wait > 0 {
		return false, wait, nil
	}
	ok, err = a.Matches(ctx, kept, text)
	switch {
	case ok:
		a.Settle(nil)
		right(ctx, repo, a, from, stored)
	case err == nil && repo.Shared():
		wrong(ctx, repo, a, from)
	}
	return ok, 0, err
}

// Owner keeps the keys, sessions and tokens of users.
var Owner = storage.Owner{Name: "credential", Leave: end, Proofs: map[string]func(*storage.Tx, string) (bool, error){
	byDevice: tokenStands, byKey: keyStands, byPassword: passwordStands, bySession: sessionStands,
}}

// end removes what stands for a user who is gone: nobody of the same name gets it. Passwords go with
// the user, and sessions with the password.
func end(tx *storage.Tx, user string) error {
	if _, err := storage.PrincipalOf(tx, user); !fault.Is(err, fault.NotFound) {
		return cmp.Or[error](err, fault.Conflict.Errorf("user %s: still exists", user))
	}
	system := tx.As(tx.Repo().System())
	return cmp.Or(endTokens(system, user), endKeys(system, user), system.Secret(known).Delete(user))
}

// Sweep removes sessions, invitations, codes and counters that have ended, and writes what Flush does.
func Sweep(ctx context.Context, repo *storage.Repo) error {
	return errors.Join(
		Flush(ctx, repo), repo.SweepExpired(ctx, sessions, sessionKept), repo.SweepExpired(ctx, sessionsOf, sessionKept),
		repo.SweepExpired(ctx, invitations, invitationKept),
		repo.SweepExpired(ctx, known, addressKept), repo.SweepExpired(ctx, counters, password.LongestCount),
	)
}

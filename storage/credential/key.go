package credential

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/internal/secret"
	"catena/storage/people"
)

// Key is an API key; its secret is shown once and kept as a hash. What it is good for never changes, but for its end (Revoked).
type Key struct {
	ID                                  int64
	User, Scope, Name                   string // Scope: read_only, read_write
	Revision                            string
	Created, Expires, LastUsed, Revoked time.Time
}

// The scopes of a key.
const (
	ScopeRead  = "read_only"
	ScopeWrite = "read_write"
)

var (
	keys   = row.Secret{Name: "keys"}   // by number
	keysOf = row.Secret{Name: "keysOf"} // the numbers of a user's keys, by user and number
)

// byKeys finds the keys to sign in by.
var byKeys = signer[keyRow]{table: keys, ends: true}

// allKeys is the row of keysOf in a store in which every key is listed there; no user has the name "".
const allKeys = "\x00"

// keyRow is how a key is kept.
type keyRow struct {
	Key
	Hash []byte // SHA-256 of the secret
}

// keyName is a number, above zero, in 19 digits.
func keyName(id int64) string {
	digits := strconv.FormatInt(id, 10)
	return "0000000000000000000"[:max(0, 19-len(digits))] + digits
}

func ownKey(user string, id int64) string { return user + "\x00" + keyName(id) }

func errKey() error { return fault.Denied.Errorf("the API key is not valid") }

// CreateKey makes an API key for oneself, or by an administrator for anyone. The text of the key is
// returned this once.
func CreateKey(tx *storage.Tx, k Key) (Key, string, error) {
	if err := tx.MayWrite(); err != nil {
		return k, "", err
	}
	if k.User == "" {
		k.User = tx.Principal().Name
	}
	if err := mayUseKeysOf(tx, k.User); err != nil {
		return k, "", err
	}
	if _, err := people.Lookup(tx, k.User); err != nil {
		return k, "", err
	}
	err := k.check(tx.Now())
	if err != nil {
		return k, "", err
	}
	if k.ID, err = tx.Next("keys"); err != nil {
		return k, "", err
	}
	k.Created, k.LastUsed, k.Revoked = tx.Now(), time.Time{}, time.Time{}
	text := secret.Text()
	storage.NoteChange(tx, "record", "key of "+k.User)
	return k, fmt.Sprintf("cat_%d_%s", k.ID, text), cmp.Or(
		tx.Secret(keys).Create(keyName(k.ID), keyRow{k, secret.Sum(text)}),
		tx.Secret(keysOf).Put(ownKey(k.User, k.ID), k.ID),
	)
}

// check refuses what a key cannot be.
func (k *Key) check(now time.Time) error {
	switch {
	case k.Scope != ScopeRead && k.Scope != ScopeWrite:
		return fault.Invalid.Errorf("scope %q: must be read_only or read_write", k.Scope).In("scope")
	case k.Revision != "" && k.Revision != "A" && k.Revision != "B":
		return fault.Invalid.Errorf("revision %q: must be A or B", k.Revision).In("revision")
	case !k.Expires.IsZero() && !k.Expires.After(now):
		return fault.Invalid.Errorf("expires: must be in the future").In("expires")
	}
	return nil
}

func mayUseKeysOf(tx *storage.Tx, user string) error {
	if tx.Principal().Name == user && user != "" || tx.Principal().Admin {
		return nil
	}
	return fault.Denied.Errorf("keys of %s: not visible to '%s'", cmp.Or(user, "all users"), tx.Principal().Name)
}

// Keys returns the API keys of a user, without their secrets; for administrators "" means all.
func Keys(tx *storage.Tx, user string) ([]Key, error) {
	if err := mayUseKeysOf(tx, user); err != nil {
		return nil, err
	}
	use := row.Of[keyUse](tx.Repo().Memory())
	var list []Key
	for k, err := range eachKey(tx, user) {
		if err != nil {
			return nil, err
		}
		k.LastUsed = use.newer(&k)
		list = append(list, k.Key)
	}
	return list, nil
}

// eachKey walks the keys of a user, or of all for "", by number. What fails is the last element.
func eachKey(tx *storage.Tx, user string) iter.Seq2[keyRow, error] {
	if user == "" {
		return storage.Records[keyRow](tx.Secret(keys), "", "", 0)
	}
	return func(yield func(keyRow, error) bool) {
		for id, err := range storage.Records[int64](tx.Secret(keysOf), user+"\x00", user+"\x01", 0) {
			var k keyRow
			if err == nil {
				_, err = tx.Secret(keys).Get(keyName(id), &k)
			}
			if !yield(k, err) || err != nil {
				return
			}
		}
	}
}

// RevokeKey ends an API key for good.
func RevokeKey(tx *storage.Tx, id int64) error {
	if err := tx.MayWrite(); err != nil {
		return err
	}
	var k keyRow
	ok, err := tx.Secret(keys).Get(keyName(id), &k)
	if err != nil {
		return err
	}
	if !ok || mayUseKeysOf(tx, k.User) != nil {
		return fault.NotFound.Errorf("key %d: does not exist", id)
	}
	if !k.Revoked.IsZero() {
		return nil
	}
	k.Revoked = tx.Now()
	storage.Ends(tx)
	tx.AfterCommit(row.Of[signingRows[keyRow]](tx.Repo().Memory()).drop)
	storage.NoteChange(tx, "record", "key of "+k.User)
	return tx.Secret(keys).Put(keyName(id), k)
}

// endKeys removes the keys of a user.
func endKeys(tx *storage.Tx, user string) error {
	storage.Ends(tx)
	tx.AfterCommit(row.Of[signingRows[keyRow]](tx.Repo().Memory()).drop)
	for k, err := range eachKey(tx, user) {
		if err != nil {
			return err
		}
		if err := cmp.Or(tx.Secret(keys).Delete(keyName(k.ID)), tx.Secret(keysOf).Delete(ownKey(user, k.ID))); err != nil {
			return err
		}
	}
	return nil
}

// KeyStands reports whether the API key of a number is good now: what was handed out for a key, or is
// done by it, ends with it.
func KeyStands(tx *storage.Tx, id int64) (bool, error) { return keyStands(tx, keyName(id)) }

func keyStands(tx *storage.Tx, name string) (bool, error) {
	var k keyRow
	ok, err := read(tx, keys, name, &k)
	return ok && k.good(tx.Now()), err
}

// good reports whether a key is neither revoked nor expired.
func (k *keyRow) good(now time.Time) bool {
	return k.Revoked.IsZero() && (k.Expires.IsZero() || now.Before(k.Expires))
}

// used returns when a key was used last, given when a request was noted that came with it. A request may be noted before its transaction
// finds that another process has revoked the key. Such a request is refused, and does not count.
func (k *keyRow) used(at time.Time) time.Time {
	if at.After(k.LastUsed) && (k.Revoked.IsZero() || at.Before(k.Revoked)) {
		return at
	}
	return k.LastUsed
}

// SignInKey checks an API key "cat_<id>_<secret>" and returns who it acts for. When a key was used last
// is written later, by Sweep.
func SignInKey(ctx context.Context, repo *storage.Repo, key string) (*storage.Principal, error) {
	rest, ok := strings.CutPrefix(key, "cat_")
	number, text, ok2 := strings.Cut(rest, "_")
	id, err := strconv.ParseInt(number, 10, 64)
	if !ok || !ok2 || err != nil || id <= 0 || len(key) > 200 {
		return nil, errKey()
	}
	name := keyName(id)
	k, _, err := byKeys.row(ctx, repo, name)
	if err != nil {
		return nil, err
	}
	now := repo.Internal(row.Ordered{}).Clock()
	if !secret.Is(text, k.Hash) || !k.good(now) {
		return nil, errKey()
	}
	p, err := principal(ctx, repo, k.User, errKey)
	if err != nil {
		return nil, err
	}
	row.Of[keyUse](repo.Memory()).note(id, now)
	as := p.While(storage.Proof{Kind: byKey, Name: name}, storage.Rows(storage.SecretKey(keys, name)))
	as.KeyID, as.Revision, as.ReadOnly = id, k.Revision, k.Scope != ScopeWrite
	return as, nil
}

// Open takes in the counters of wrong passwords of an earlier process, and has keys and sessions listed by user in a store in
// which they are not yet.
func Open(ctx context.Context, repo *storage.Repo) error {
	if err := cmp.Or(restoreCounters(ctx, repo), listSessions(ctx, repo)); err != nil {
		return err
	}
	listed := func(tx *storage.Tx) (done bool, err error) {
		_, err = tx.Secret(keysOf).Get(allKeys, &done)
		return done, err
	}
	done := false
	err := repo.View(ctx, repo.System(), func(tx *storage.Tx) (err error) {
		done, err = listed(tx)
		return err
	})
	if err != nil || done {
		return err
	}
	return repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		for k, err := range eachKey(tx, "") {
			if err != nil {
				return err
			}
			if err := tx.Secret(keysOf).Put(ownKey(k.User, k.ID), k.ID); err != nil {
				return err
			}
		}
		return tx.Secret(keysOf).Put(allKeys, true)
	})
}

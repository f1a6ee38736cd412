package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"catena/storage/fault"
)

// Key is an API key; its secret is shown once and kept as a hash.
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

// keyRow is how a key is kept.
type keyRow struct {
	Key
	Hash []byte // SHA-256 of the secret
}

// keyUse holds when keys were last used until it is written.
type keyUse struct {
	mu   sync.Mutex
	last map[int64]time.Time
}

func keyName(id int64) string { return fmt.Sprintf("%019d", id) }

func errKey() error { return fault.Denied.Errorf("the API key is not valid") }

// CreateKey makes an API key for oneself, or by an administrator for anyone. The text of the key is
// returned this once.
func (t *Tx) CreateKey(k Key) (Key, string, error) {
	if err := t.MayWrite(); err != nil {
		return k, "", err
	}
	if k.User == "" {
		k.User = t.as.Name
	}
	if err := t.mayUseKeysOf(k.User); err != nil {
		return k, "", err
	}
	if _, err := t.User(k.User); err != nil {
		return k, "", err
	}
	if k.Scope != ScopeRead && k.Scope != ScopeWrite {
		return k, "", fault.Invalid.Errorf("scope %q: read_only or read_write expected", k.Scope).In("scope")
	}
	if k.Revision != "" && k.Revision != "A" && k.Revision != "B" {
		return k, "", fault.Invalid.Errorf("revision %q: A or B expected", k.Revision).In("revision")
	}
	if !k.Expires.IsZero() && !k.Expires.After(t.now) {
		return k, "", fault.Invalid.Errorf("expires: is past").In("expires")
	}
	var err error
	if k.ID, err = t.Next("keys"); err != nil {
		return k, "", err
	}
	k.Created, k.LastUsed, k.Revoked = t.now, time.Time{}, time.Time{}
	secret := make([]byte, 32)
	rand.Read(secret)
	text := base64.RawURLEncoding.EncodeToString(secret)
	sum := sha256.Sum256([]byte(text))
	t.Changed("record", "key of "+k.User)
	return k, fmt.Sprintf("cat_%d_%s", k.ID, text), t.secret(keysTable).Create(keyName(k.ID), keyRow{k, sum[:]})
}

func (t *Tx) mayUseKeysOf(user string) error {
	if t.as.Name == user && user != "" || t.rights.admin {
		return nil
	}
	return fault.Denied.Errorf("keys of %s: not for '%s'", user, t.as.Name)
}

// Keys returns the API keys of a user, without their secrets; for administrators "" means all.
func (t *Tx) Keys(user string) ([]Key, error) {
	if err := t.mayUseKeysOf(user); err != nil {
		return nil, err
	}
	var keys []Key
	for k, err := range Records[keyRow](t.secret(keysTable), "", "", 0) {
		if err != nil {
			return nil, err
		}
		if user == "" || k.User == user {
			k.LastUsed = t.repo.keyUse.newer(k.ID, k.LastUsed)
			keys = append(keys, k.Key)
		}
	}
	return keys, nil
}

// RevokeKey ends an API key for good.
func (t *Tx) RevokeKey(id int64) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	var k keyRow
	ok, err := t.secret(keysTable).Get(keyName(id), &k)
	if err != nil {
		return err
	}
	if !ok || t.mayUseKeysOf(k.User) != nil {
		return fault.NotFound.Errorf("key %d: does not exist", id)
	}
	if !k.Revoked.IsZero() {
		return nil
	}
	k.Revoked = t.now
	t.Changed("record", "key of "+k.User)
	return t.secret(keysTable).Put(keyName(id), k)
}

// endKeys removes the keys of a user who goes: nobody of the same name gets them.
func (t *Tx) endKeys(user string) error {
	table := t.secret(keysTable)
	for k, err := range Records[keyRow](table, "", "", 0) {
		if err != nil {
			return err
		}
		if k.User == user {
			if err := table.Delete(keyName(k.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

// KeyStands reports whether the API key of a number, as text, is good now: what was handed out
// for a key ends with it.
func (t *Tx) KeyStands(number string) bool {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return false
	}
	ok, err := t.keyStands(id)
	return err == nil && ok
}

func (t *Tx) keyStands(id int64) (bool, error) {
	var k keyRow
	ok, err := t.secret(keysTable).Get(keyName(id), &k)
	return ok && k.good(t.now), err
}

// good reports whether a key is neither revoked nor expired.
func (k *keyRow) good(now time.Time) bool {
	return k.Revoked.IsZero() && (k.Expires.IsZero() || now.Before(k.Expires))
}

// SignInKey checks an API key "cat_<id>_<secret>" and returns who it acts for. When a key was used last
// is written later, by Sweep.
func (r *Repo) SignInKey(ctx context.Context, key string) (*Principal, error) {
	rest, ok := strings.CutPrefix(key, "cat_")
	number, secret, ok2 := strings.Cut(rest, "_")
	id, err := strconv.ParseInt(number, 10, 64)
	if !ok || !ok2 || err != nil || id <= 0 || len(key) > 200 {
		return nil, errKey()
	}
	var k keyRow
	err = r.View(ctx, r.System(), func(t *Tx) error {
		_, err := t.secret(keysTable).Get(keyName(id), &k)
		return err
	})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(secret))
	now := r.clock()
	if subtle.ConstantTimeCompare(sum[:], k.Hash) != 1 || !k.good(now) {
		return nil, errKey()
	}
	p, err := r.Principal(ctx, k.User)
	if err != nil {
		return nil, firstError(errIfNot(err, fault.NotFound), errKey())
	}
	r.keyUse.note(id, now)
	as := p.by(func(t *Tx) (bool, error) { return t.keyStands(id) })
	as.KeyID, as.Revision, as.ReadOnly = id, k.Revision, k.Scope != ScopeWrite
	return as, nil
}

// errIfNot returns err unless it is of the kind.
func errIfNot(err error, k fault.Kind) error {
	if fault.Is(err, k) {
		return nil
	}
	return err
}

func (u *keyUse) note(id int64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[int64]time.Time{}
	}
	u.last[id] = at.UTC().Truncate(time.Millisecond)
}

func (u *keyUse) newer(id int64, than time.Time) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if at := u.last[id]; at.After(than) {
		return at
	}
	return than
}

// flushKeyUse writes when keys were last used.
func (r *Repo) flushKeyUse(ctx context.Context) error {
	r.keyUse.mu.Lock()
	last := r.keyUse.last
	r.keyUse.last = nil
	r.keyUse.mu.Unlock()
	if len(last) == 0 {
		return nil
	}
	return r.Update(ctx, r.System(), func(t *Tx) error {
		for id, at := range last {
			var k keyRow
			ok, err := t.secret(keysTable).Get(keyName(id), &k)
			if err != nil {
				return err
			}
			if !ok || !at.After(k.LastUsed) {
				continue
			}
			k.LastUsed = at
			if err := t.secret(keysTable).Put(keyName(id), k); err != nil {
				return err
			}
		}
		return nil
	})
}

package credential

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/password"
	"catena/storage/internal/row"
)

// Wrong passwords are counted in memory and written once in a while, so that a restart does not forgive them. There is a
// bounded number of counters, and each row ends by itself.
//
// Servers that share a store count together: each reads the rows before it looks at a password that is not known to be
// right, and raises them at once if it is wrong. So all servers together look at no more than one would, but for what
// they are looking at in the same moment, of which the computations of hashes at once are the bound.

var counters = row.Secret{Name: "signincounters"}

// countersEvery is how often counters are written while passwords are wrong.
const countersEvery = time.Second

// keepCounters writes counters, unless that was done within an interval. A store that is not writable keeps none.
func keepCounters(ctx context.Context, repo *storage.Repo, interval time.Duration) {
	if err := flushCounters(context.WithoutCancel(ctx), repo, interval); err != nil {
		repo.Log().Debug("wrong passwords cannot be stored", "err", err)
	}
}

func flushCounters(ctx context.Context, repo *storage.Repo, interval time.Duration) error {
	changed := password.Of(repo.Memory()).Unwritten(interval)
	if len(changed) == 0 || repo.Shared() { // there the rows are of all servers
		return nil
	}
	return repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		for k, whole := range changed {
			name := hex.EncodeToString(k[:])
			if whole.IsZero() {
				if err := tx.Secret(counters).Delete(name); err != nil {
					return err
				}
			} else if err := tx.Secret(counters).Put(name, password.Stored{Whole: whole}); err != nil {
				return err
			}
		}
		return nil
	})
}

// restoreCounters takes in the counters that an earlier process wrote.
func restoreCounters(ctx context.Context, repo *storage.Repo) error {
	found := map[password.Key]time.Time{}
	err := repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		for name, raw := range tx.Secret(counters).Scan("", "", false, 0) {
			var k password.Key
			var r password.Stored
			if err := json.Unmarshal(raw, &r); err != nil {
				return fault.Internal.Errorf("counter of wrong passwords: %w", err)
			}
			if n, err := hex.Decode(k[:], []byte(name)); err == nil && n == len(k) && r.Whole.After(tx.Now()) {
				found[k] = r.Whole
			}
		}
		return tx.Err()
	})
	if err != nil {
		return err
	}
	password.Of(repo.Memory()).Restore(repo.Secret("sign-in counters"), found)
	return nil
}

// sharedWait is how long the counters of other servers are waited for. They are read and written in transactions of their own,
// also while that of a call is open: if all connections to the database are taken by such calls, none may wait for another one
// for ever. A server that does not get them goes by its own counters.
const sharedWait = time.Second

// takeIn learns what other servers have counted of an attempt, and returns that. What was counted before the clock was set back is
// lowered in the store, as each server does in memory: it would shut out a user until the clock is there again.
func takeIn(tx *storage.Tx, a *password.Attempt, from password.Origin) (map[password.Key]password.Stored, error) {
	if !tx.Repo().Shared() {
		return nil, nil
	}
	keys := a.Counters(from)
	stored, err := storedCounters(tx, keys)
	if err != nil {
		return nil, err
	}
	if len(a.Lowered(stored)) > 0 {
		putCounters(tx.Context(), tx.Repo(), func(tx *storage.Tx) (map[password.Key]password.Stored, error) {
			stored, err := storedCounters(tx, keys)
			return a.Lowered(stored), err
		})
	}
	password.Of(tx.Repo().Memory()).TakeIn(stored)
	return stored, nil
}

func storedCounters(tx *storage.Tx, keys []password.Key) (map[password.Key]password.Stored, error) {
	rows := make([][]byte, len(keys))
	for i, k := range keys {
		rows[i] = storage.SecretKey(counters, hex.EncodeToString(k[:]))
	}
	if err := tx.Internal(row.Ordered{}).KV().Prefetch(rows); err != nil { // in one round trip
		return nil, err
	}
	stored := map[password.Key]password.Stored{}
	for _, k := range keys {
		var s password.Stored
		found, err := tx.Secret(counters).Get(hex.EncodeToString(k[:]), &s)
		if err != nil {
			return nil, err
		}
		if found {
			stored[k] = s
		}
	}
	return stored, nil
}

// putCounters changes counters of all servers. What cannot be stored is logged: this server counts by itself, too.
func putCounters(ctx context.Context, repo *storage.Repo, fn func(tx *storage.Tx) (map[password.Key]password.Stored, error)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sharedWait)
	defer cancel()
	err := repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		changed, err := fn(tx)
		if err != nil {
			return err
		}
		for k, s := range changed {
			if err := tx.Secret(counters).Put(hex.EncodeToString(k[:]), s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		repo.Log().Debug("counters of wrong passwords cannot be stored", "err", err)
	}
}

// wrong counts a wrong password for later, and for other servers. A store that is not writable keeps nothing.
func wrong(ctx context.Context, repo *storage.Repo, a *password.Attempt, from password.Origin) {
	if !repo.Shared() {
		keepCounters(ctx, repo, countersEvery)
		return
	}
	keys := a.Counters(from)
	putCounters(ctx, repo, func(tx *storage.Tx) (map[password.Key]password.Stored, error) {
		stored, err := storedCounters(tx, keys)
		if err != nil {
			return nil, err
		}
		return a.Failures(stored), nil
	})
}

// right forgives the wrong passwords that servers have counted at the place of one that was right. Stored is what takeIn has
// found.
func right(ctx context.Context, repo *storage.Repo, a *password.Attempt, from password.Origin, stored map[password.Key]password.Stored) {
	if len(stored) == 0 {
		return
	}
	place := a.Counters(from)[0]
	if !stored[place].Whole.After(stored[place].Forgiven) {
		return
	}
	putCounters(ctx, repo, func(*storage.Tx) (map[password.Key]password.Stored, error) {
		return map[password.Key]password.Stored{place: a.Forgiven()}, nil
	})
}

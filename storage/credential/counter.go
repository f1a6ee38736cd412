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

// takeIn learns what other servers have counted of an attempt.
func takeIn(tx *storage.Tx, a *password.Attempt, from password.Origin) error {
	if !tx.Repo().Shared() {
		return nil
	}
	stored, err := storedCounters(tx, a.Counters(from))
	if err == nil {
		password.Of(tx.Repo().Memory()).TakeIn(stored)
	}
	return err
}

func storedCounters(tx *storage.Tx, keys []password.Key) (map[password.Key]password.Stored, error) {
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

// wrong counts a wrong password for later, and for other servers. A store that is not writable keeps nothing.
func wrong(ctx context.Context, repo *storage.Repo, a *password.Attempt, from password.Origin) {
	if !repo.Shared() {
		keepCounters(ctx, repo, countersEvery)
		return
	}
	keys := a.Counters(from)
	err := repo.Update(context.WithoutCancel(ctx), repo.System(), func(tx *storage.Tx) error {
		stored, err := storedCounters(tx, keys)
		if err != nil {
			return err
		}
		for k, s := range a.Failures(stored) {
			if err := tx.Secret(counters).Put(hex.EncodeToString(k[:]), s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		repo.Log().Debug("a wrong password cannot be stored", "err", err)
	}
}

// right forgives the wrong passwords that servers have counted at the place of one that was right.
func right(ctx context.Context, repo *storage.Repo, a *password.Attempt, from password.Origin) {
	if !repo.Shared() {
		return
	}
	keys := a.Counters(from)[:1]
	var stored map[password.Key]password.Stored
	err := repo.View(ctx, repo.System(), func(tx *storage.Tx) (err error) {
		stored, err = storedCounters(tx, keys)
		return err
	})
	if err == nil && stored[keys[0]].Whole.After(stored[keys[0]].Forgiven) {
		err = repo.Update(context.WithoutCancel(ctx), repo.System(), func(tx *storage.Tx) error {
			return tx.Secret(counters).Put(hex.EncodeToString(keys[0][:]), a.Forgiven())
		})
	}
	if err != nil {
		repo.Log().Debug("wrong passwords cannot be forgiven", "err", err)
	}
}

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

var counters = row.Secret{Name: "signincounters"}

// counterRow is a counter: the moment at which its budget is whole again.
type counterRow struct {
	Whole time.Time `json:"expires"`
}

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
	if len(changed) == 0 {
		return nil
	}
	return repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		for k, whole := range changed {
			name := hex.EncodeToString(k[:])
			if whole.IsZero() {
				if err := tx.Secret(counters).Delete(name); err != nil {
					return err
				}
			} else if err := tx.Secret(counters).Put(name, counterRow{whole}); err != nil {
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
			var r counterRow
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

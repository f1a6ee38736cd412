package credential

import (
	"context"
	"errors"
	"sync"
	"time"

	"catena/storage"
	"catena/storage/internal/row"
)

// keyUse holds when keys were last used until it is written.
type keyUse struct {
	mu   sync.Mutex
	last map[int64]time.Time
}

func (u *keyUse) note(id int64, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[int64]time.Time{}
	}
	u.last[id] = at.UTC().Truncate(time.Millisecond)
}

// newer returns when a key was used last, if that is after the row was written.
func (u *keyUse) newer(k *keyRow) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return k.used(u.last[k.ID])
}

// Flush writes when keys were last used, and how many passwords were wrong.
func Flush(ctx context.Context, repo *storage.Repo) error {
	return errors.Join(flushKeys(ctx, repo), flushCounters(ctx, repo, 0))
}

func flushKeys(ctx context.Context, repo *storage.Repo) error {
	use := row.Of[keyUse](repo.Memory())
	use.mu.Lock()
	last := use.last
	use.last = nil
	use.mu.Unlock()
	if len(last) == 0 {
		return nil
	}
	return repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		for id, at := range last {
			var k keyRow
			ok, err := tx.Secret(keys).Get(keyName(id), &k)
			if err != nil {
				return err
			}
			used := k.used(at)
			if !ok || !used.After(k.LastUsed) {
				continue
			}
			k.LastUsed = used
			if err := tx.Secret(keys).Put(keyName(id), k); err != nil {
				return err
			}
		}
		return nil
	})
}

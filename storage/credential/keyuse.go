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

func (u *keyUse) newer(id int64, than time.Time) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if at := u.last[id]; at.After(than) {
		return at
	}
	return than
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
			if !ok || !at.After(k.LastUsed) {
				continue
			}
			k.LastUsed = at
			if err := tx.Secret(keys).Put(keyName(id), k); err != nil {
				return err
			}
		}
		return nil
	})
}

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

// keyCache holds rows of keys until one of them ends, which is all that changes of a row that matters here.
type keyCache struct {
	mu         sync.RWMutex
	generation uint64
	byID       map[int64]keyRow
}

func (c *keyCache) get(id int64) (k keyRow, known bool, generation uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, known = c.byID[id]
	return k, known, c.generation
}

// put keeps a row unless a key ended since the generation it was read in.
func (c *keyCache) put(id int64, k keyRow, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation != c.generation {
		return
	}
	if c.byID == nil || len(c.byID) >= mostDecoded {
		c.byID = map[int64]keyRow{}
	}
	c.byID[id] = k
}

func (c *keyCache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	clear(c.byID)
}

// signing returns the row of a key to sign in by, zero if there is none. It is remembered only where no other process can end a key;
// each transaction of the principal reads the row besides (keyStands).
func signing(ctx context.Context, repo *storage.Repo, id int64) (keyRow, error) {
	if repo.Shared() {
		k, _, err := stored(ctx, repo, id)
		return k, err
	}
	cache := row.Of[keyCache](repo.Memory())
	k, known, generation := cache.get(id)
	if known {
		return k, nil
	}
	k, found, err := stored(ctx, repo, id)
	if err == nil && found {
		cache.put(id, k, generation)
	}
	return k, err
}

// stored reads the row of a key.
func stored(ctx context.Context, repo *storage.Repo, id int64) (k keyRow, found bool, err error) {
	err = repo.View(ctx, repo.System(), func(tx *storage.Tx) (err error) {
		k = keyRow{}
		if err = storage.SignInAhead(tx, storage.SecretKey(keys, keyName(id))); err == nil {
			found, err = read(tx, keys, keyName(id), &k)
		}
		return err
	})
	return k, found, err
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

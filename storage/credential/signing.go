package credential

import (
	"context"
	"sync"

	"catena/storage"
	"catena/storage/internal/row"
)

// signingRows are the rows of one kind that requests were signed in by lately, by name. Of such a row nothing changes that says for whom
// it stands and what for: it ends, and each transaction of a principal looks whether it has (storage.Proven).
type signingRows[T any] struct {
	mu         sync.RWMutex
	generation uint64
	byName     map[string]T
}

func (c *signingRows[T]) get(name string) (v T, known bool, generation uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, known = c.byName[name]
	return v, known, c.generation
}

// put keeps a row as it was read, unless one ended since the generation it was read in.
func (c *signingRows[T]) put(name string, v T, there bool, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !there:
		delete(c.byName, name)
		return
	case generation != c.generation:
		return
	case c.byName == nil || len(c.byName) >= mostDecoded:
		c.byName = map[string]T{}
	}
	c.byName[name] = v
}

func (c *signingRows[T]) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	clear(c.byName)
}

// signer finds the rows of one kind that requests are signed in by.
type signer[T any] struct {
	table row.Secret
	ends  bool                                     // whether what ends a row drops all that is remembered, as a process that is alone needs
	good  func(tx *storage.Tx, v *T) (bool, error) // whether a row stands that is there; nil: it does
}

// row returns the row with a name, and whether it stands. It is read now, unless what is remembered of it is good enough.
func (s signer[T]) row(ctx context.Context, repo *storage.Repo, name string) (v T, stands bool, err error) {
	cache := row.Of[signingRows[T]](repo.Memory())
	v, known, generation := cache.get(name)
	if known && repo.Remembers(ctx) {
		return v, true, nil
	}
	err = repo.View(ctx, repo.System(), func(tx *storage.Tx) (err error) {
		v = *new(T)
		if err = storage.SignInAhead(tx, storage.Rows(storage.SecretKey(s.table, name))); err == nil {
			stands, err = s.read(tx, name, &v)
		}
		return err
	})
	if err == nil && (s.ends || repo.Shared()) {
		cache.put(name, v, stands, generation)
	}
	return v, stands, err
}

// read reads a row, and reports whether it stands.
func (s signer[T]) read(tx *storage.Tx, name string, v *T) (bool, error) {
	ok, err := read(tx, s.table, name, v)
	if err != nil || !ok || s.good == nil {
		return ok, err
	}
	return s.good(tx, v)
}

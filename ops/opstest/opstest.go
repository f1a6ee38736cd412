// Package opstest gives tests of operations a repository in memory, with the users alice and
// bob. World runs an operation's function alone, Engine runs operations by name: tables of calls stand beside the
// operations, while scenarios are their examples.
package opstest

import (
	"context"
	"log/slog"
	"testing"

	"catena/engine"
	"catena/storage"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// World is a fresh repository.
type World struct {
	*storage.Repo
	t testing.TB
}

// New opens a fresh repository for a test.
func New(t testing.TB) *World {
	t.Helper()
	return populate(t, nil)
}

func populate(t testing.TB, change func(*storage.Config)) *World {
	t.Helper()
	w := &World{Repo: storagetest.Open(t, change), t: t}
	w.Do("Administrator", func(c *engine.Ctx) error {
		for _, name := range []string{"alice", "bob"} {
			if err := people.SaveUser(c.Tx, &people.User{Username: name}, "secret"); err != nil {
				return err
			}
		}
		return nil
	})
	return w
}

// Do runs fn in a transaction of a user's and fails the test if it fails.
func (w *World) Do(user string, fn func(c *engine.Ctx) error) {
	w.t.Helper()
	if err := w.Try(user, fn); err != nil {
		w.t.Fatal(err)
	}
}

// Try runs fn in a transaction of a user's and returns how it ended.
func (w *World) Try(user string, fn func(c *engine.Ctx) error) error {
	ctx := context.Background()
	var as *storage.Principal
	if err := w.View(ctx, w.System(), func(tx *storage.Tx) (err error) {
		as, err = storage.PrincipalOf(tx, user)
		return err
	}); err != nil {
		return err
	}
	return w.Update(ctx, as, func(tx *storage.Tx) error {
		return fn(&engine.Ctx{Context: ctx, Tx: tx, As: as, Now: tx.Now(), Vars: map[string]any{}, Log: slog.New(slog.DiscardHandler), EntryPoint: engine.Chain})
	})
}

// Doc finds a document.
func (w *World) Doc(c *engine.Ctx, ref storage.Ref) *storage.Doc {
	w.t.Helper()
	d, err := c.Tx.Doc(ref)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// Make creates a document at a path.
func (w *World) Make(c *engine.Ctx, folder storage.Ref, typeName, name string, p storage.Props) *storage.Doc {
	w.t.Helper()
	d, err := c.Tx.Create(w.Doc(c, folder), typeName, name, p)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

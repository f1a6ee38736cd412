package storage_test

import (
	"context"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
)

// unreadable is a store that cannot read keys of a space while it fails.
type unreadable struct {
	kv.Store
	space byte
	fails bool
}

func (u *unreadable) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := u.Store.Begin(ctx, write)
	return &unreadableSnapshot{s, u}, err
}

type unreadableSnapshot struct {
	kv.Snapshot
	u *unreadable
}

func (s *unreadableSnapshot) Get(key []byte) ([]byte, error) {
	if s.u.fails && key[0] == s.u.space {
		return nil, fault.Unavailable.Errorf("input/output error")
	}
	return s.Snapshot.Get(key)
}

// TestAccessListUnreadable holds that a store that fails is not mistaken for a missing permission.
func TestAccessListUnreadable(t *testing.T) {
	store := &unreadable{Store: memory.New(), space: 'p'}
	open := func() *world { return newWorld(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) }) }
	w := open()
	w.make("/default-domain/workspaces/note", "File", nil)
	w.grant("/default-domain/workspaces/note", "ann:Everything")
	ann := &storage.Principal{Name: "ann"}
	read := func(tx *storage.Tx) error {
		_, err := tx.Doc("/default-domain/workspaces/note")
		return err
	}
	w = open() // with nothing in memory
	store.fails = true
	if err := w.View(context.Background(), ann, read); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the store fails: %v", err)
	}
	store.fails = false
	if err := w.View(context.Background(), ann, read); err != nil {
		t.Errorf("the store works again: %v", err)
	}
}

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

// TestPermissionUnreadable: a transaction that cannot look up a permission fails, whatever its caller makes of the answer
// that there is none. Who may start a workflow, or be told of an event, must not depend on the disk.
func TestPermissionUnreadable(t *testing.T) {
	store := &unreadable{Store: memory.New()}
	w := newWorld(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{Attempts: 1}) })
	w.make("/default-domain/workspaces/note", "File", nil)
	w.grant("/default-domain/workspaces/note", "ann:Everything")
	ann := &storage.Principal{Name: "ann"}
	for name, ask := range map[string]func(tx *storage.Tx, d *storage.Doc) bool{
		"can":         func(tx *storage.Tx, d *storage.Doc) bool { return tx.Can(d, "Write") },
		"permissions": func(tx *storage.Tx, d *storage.Doc) bool { return len(tx.Permissions(d)) > 0 },
	} {
		read := 0
		for _, space := range []byte("Dtcpxaenrsglwbzm") { // all kinds of rows
			denied := false
			err := w.Update(context.Background(), ann, func(tx *storage.Tx) error {
				d, err := tx.Doc("/default-domain/workspaces/note")
				if err != nil {
					return err
				}
				store.space, store.fails = space, true
				defer func() { store.fails = false }()
				if denied = !ask(tx, d); denied {
					return fault.Denied.Errorf("no permission")
				}
				return nil
			})
			if denied {
				read++
			}
			if denied != fault.Is(err, fault.Unavailable) {
				t.Errorf("%s with space %q unreadable: denied %v, %v", name, space, denied, err)
			}
		}
		if read == 0 {
			t.Errorf("%s: nothing was read", name)
		}
	}
}

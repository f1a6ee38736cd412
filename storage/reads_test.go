package storage_test

import (
	"context"
	"fmt"
	"testing"

	"catena/storage"
	"catena/storage/kv"
	"catena/storage/memory"
)

// counted is a store that counts what is read from it.
type counted struct {
	kv.Store
	keys, scans int
}

type countedSnapshot struct {
	kv.Snapshot
	of *counted
}

func (c *counted) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := c.Store.Begin(ctx, write)
	return countedSnapshot{s, c}, err
}

func (s countedSnapshot) Get(key []byte) ([]byte, error) {
	s.of.keys++
	return s.Snapshot.Get(key)
}

func (s countedSnapshot) GetMany(keys [][]byte) ([][]byte, error) {
	s.of.keys += len(keys)
	return s.Snapshot.GetMany(keys)
}

func (s countedSnapshot) Scan(r kv.Range) kv.Cursor {
	s.of.scans++
	return s.Snapshot.Scan(r)
}

// TestReadsOfAPage holds how often the store is asked for a page of fifty documents: once for each document,
// and a few times for the page, whatever is asked about the documents.
func TestReadsOfAPage(t *testing.T) {
	store := &counted{Store: memory.New()}
	w := newWorld(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) })
	top := w.deep(8)
	w.grant(top, "bob:Read", "staff:ReadWrite")
	w.many(3000, func(i int) (string, string, string, storage.Props) {
		return top, fmt.Sprint("d", i), "File", storage.Props{"dc:title": fmt.Sprint("t", i), "dc:source": fmt.Sprint("s", i%50), "dc:nature": fmt.Sprint("n", i%7)}
	})
	bob := user("bob")
	page := func(tx *storage.Tx, src string, count int) storage.Docs {
		p, err := tx.Query(src, storage.QueryOptions{PageOptions: storage.PageOptions{Limit: 50, CountLimit: count}})
		if err != nil || len(p.Docs) != 50 {
			t.Fatalf("%s: %v", src, err)
		}
		return p.Docs
	}
	for _, c := range []struct {
		name        string
		keys, scans int // at most
		read        func(tx *storage.Tx) error
	}{
		{"in order", 53, 2, func(tx *storage.Tx) error { page(tx, "SELECT * FROM File ORDER BY dc:title", -1); return nil }},
		{"in order, with total", 53, 2, func(tx *storage.Tx) error { page(tx, "SELECT * FROM File ORDER BY dc:title", 1000); return nil }},
		{"range, with total", 53, 3, func(tx *storage.Tx) error {
			page(tx, "SELECT * FROM File WHERE dc:title >= 't1' AND ecm:isTrashed = 0 ORDER BY dc:title", 1000)
			return nil
		}},
		{"children by position, with total", 1001 + 104, 3, func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref(top))
			if err == nil {
				page(tx, "SELECT * FROM Document WHERE ecm:parentId = '"+d.ID()+"' ORDER BY ecm:pos", 1000)
			}
			return err
		}},
		{"sorted", 63, 5, func(tx *storage.Tx) error {
			page(tx, "SELECT * FROM File WHERE dc:source = 's7' ORDER BY dc:title", 1000)
			return nil
		}},
		{"enriched", 51 + 22, 2, func(tx *storage.Tx) error {
			for _, d := range page(tx, "SELECT * FROM File ORDER BY dc:title", -1) {
				above, err := tx.Ancestors(d)
				if err != nil || len(above) != 11 {
					return fmt.Errorf("%d documents above: %w", len(above), err)
				}
				if lists, err := tx.ACLs(d); err != nil || len(lists) == 0 {
					return fmt.Errorf("%d access lists: %w", len(lists), err)
				}
				if len(tx.Permissions(d)) == 0 || !tx.Can(d, "Read") || tx.Can(d, "Write") {
					return fmt.Errorf("permissions %v", tx.Permissions(d))
				}
			}
			return nil
		}},
	} {
		w.view(bob, c.read) // to know the folders
		store.keys, store.scans = 0, 0
		w.view(bob, c.read)
		if store.keys > c.keys || store.scans > c.scans {
			t.Errorf("%s: %d keys and %d ranges read, at most %d and %d", c.name, store.keys, store.scans, c.keys, c.scans)
		}
	}
}

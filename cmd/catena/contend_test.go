package main

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/kv"
	"catena/storage/owner"
	"catena/storage/postgres"
	"catena/storage/postgres/pgtest"
	"catena/storage/schema"
)

// crowd are two nodes of a database, and how often their transactions were attempted.
type crowd struct {
	t                      *testing.T
	nodes                  [2]*storage.Repo
	transactions, attempts atomic.Int64
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{t: t}
	quiet, where := slog.New(slog.DiscardHandler), pgtest.Schema()
	types, err := schema.Load(schema.Defaults())
	c.must(err)
	content, err := blob.Open("", quiet)
	c.must(err)
	t.Cleanup(func() { _ = content.Close() })
	for i := range c.nodes {
		s, err := postgres.Open(t.Context(), pgtest.Address(t), postgres.Options{Log: quiet, Schema: where})
		c.must(err)
		db := kv.New(s, kv.Options{Log: quiet, Observe: func(s kv.Stats) {
			if s.Write {
				c.transactions.Add(1)
				c.attempts.Add(int64(s.Attempts))
			}
		}})
		c.nodes[i], err = storage.Open(t.Context(), storage.Config{DB: db, Blobs: content, Types: types, Owners: owner.All, Log: quiet, PasswordMemory: 64}, adminPassword)
		c.must(err)
		t.Cleanup(func() { _, _ = c.nodes[i].Close(), db.Close() })
	}
	return c
}

func (c *crowd) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// make creates a document in a folder on one of the nodes and returns its path.
func (c *crowd) make(node int, folder, name string) (path string) {
	r := c.nodes[node]
	err := r.Update(c.t.Context(), r.System(), func(tx *storage.Tx) error {
		up, err := tx.Doc(storage.Ref(folder))
		if err != nil {
			return err
		}
		d, err := tx.Create(up, "Folder", name, storage.Props{"dc:title": "crowd"})
		if err == nil {
			path = d.Path()
		}
		return err
	})
	if err != nil {
		c.t.Error(err)
	}
	return path
}

// write has 16 writers on both nodes make documents at the same time, and returns the attempts a transaction.
func (c *crowd) write(each int, name func(writer, i int) string) (perTransaction float64, paths map[string]int) {
	t, a := c.transactions.Load(), c.attempts.Load()
	paths = map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := range each {
				path := c.make(w%2, "/crowd", name(w, i))
				mu.Lock()
				paths[path]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return float64(c.attempts.Load()-a) / float64(c.transactions.Load()-t), paths
}

// TestWritersOfOneFolder: 16 writers on two nodes make documents in one folder, and nearly no transaction runs twice, neither if
// each gives names of its own nor if all give the same; and no name is given twice.
func TestWritersOfOneFolder(t *testing.T) {
	c := newCrowd(t)
	c.make(0, "/", "crowd")
	const each = 8
	for _, tt := range []struct {
		what string
		name func(writer, i int) string
		most float64 // attempts a transaction: 1.01 to 1.06 were seen, and more than 3 where names are looked for
	}{
		{"names of their own", func(w, i int) string { return fmt.Sprintf("w%d-%d", w, i) }, 1.2},
		{"one name", func(int, int) string { return "report" }, 1.2},
		{"no name", func(int, int) string { return "" }, 1.2},
		{"each name on all", func(_, i int) string { return fmt.Sprint("shared ", i) }, 1.2},
	} {
		got, paths := c.write(each, tt.name)
		t.Logf("%s: %.3f attempts a transaction", tt.what, got)
		if got > tt.most {
			t.Errorf("%s: %.3f attempts a transaction, want %.2f at most", tt.what, got, tt.most)
		}
		if len(paths) != 16*each {
			t.Errorf("%s: %d paths of %d documents", tt.what, len(paths), 16*each)
		}
		for i, r := range c.nodes {
			c.must(r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
				for _, path := range slices.Sorted(maps.Keys(paths)) {
					if d, err := tx.Doc(storage.Ref(path)); err != nil || d.Path() != path {
						t.Errorf("%s: node %d does not find %s: %v", tt.what, i, path, err)
					}
				}
				return nil
			}))
		}
	}
}

// TestNameFreeAgain: a name that was deleted or given up on one node is free on the other one, which heard of it.
func TestNameFreeAgain(t *testing.T) {
	c := newCrowd(t)
	c.make(0, "/", "crowd")
	for i := range 6 {
		here, there := i%2, (i+1)%2
		if path := c.make(here, "/crowd", "plan"); path != "/crowd/plan" {
			t.Fatalf("round %d: %s", i, path)
		}
		if path := c.make(there, "/crowd", "plan"); path == "/crowd/plan" || path[:13] != "/crowd/plan.1" {
			t.Fatalf("round %d: the name of another document: %s", i, path)
		}
		r := c.nodes[there]
		c.must(r.Update(t.Context(), r.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc("/crowd/plan")
			if err != nil {
				return err
			}
			if i < 3 {
				return tx.Delete(d)
			}
			up, err := tx.Parent(d)
			if err == nil {
				_, err = tx.Move(d, up, fmt.Sprint("other", i))
			}
			return err
		}))
	}
	// In one transaction, a name is free once its document is renamed, and taken again by the next one.
	r := c.nodes[0]
	c.make(0, "/crowd", "plan")
	c.must(r.Update(t.Context(), r.System(), func(tx *storage.Tx) error {
		up, err := tx.Doc("/crowd")
		c.must(err)
		d, err := tx.Doc("/crowd/plan")
		c.must(err)
		_, err = tx.Move(d, up, "old plan")
		c.must(err)
		first, err := tx.Create(up, "Folder", "plan", nil)
		c.must(err)
		second, err := tx.Create(up, "Folder", "plan", nil)
		if err == nil && (first.Name() != "plan" || second.Name() == "plan") {
			t.Errorf("names %q and %q", first.Name(), second.Name())
		}
		return err
	}))
}

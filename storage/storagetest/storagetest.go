// Package storagetest opens repositories for tests of what builds on storage: a real store and real permissions, fast
// password hashes, no logging. The store is in memory, or in PostgreSQL if TEST_STORE is postgres or nodes; with
// nodes, servers of tests are two on one database (resttest), and make postgres has it.
package storagetest

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"

	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/directory"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/owner"
	"catena/storage/schema"
)

// Password is that of the user Administrator.
const Password = "correct horse battery"

// declared and listed are the default declarations, which never change once loaded.
var (
	declared = sync.OnceValues(func() (*schema.Registry, error) { return schema.Load(schema.Defaults()) })
	listed   = sync.OnceValues(func() (*directory.Registry, error) {
		types, err := declared()
		if err != nil {
			return nil, err
		}
		return directory.Load(types, directory.Defaults())
	})
)

// pdfText reads PDF files in the process of the test.
var pdfText = pdf.New(nil, "", pdf.Limits{}).PlainText

// Types returns the types that every repository has.
func Types(t testing.TB) *schema.Registry {
	t.Helper()
	r, err := declared()
	check(t, err)
	return r
}

// Nodes is how many servers tests of servers are to have on one store.
func Nodes() int {
	if os.Getenv("TEST_STORE") == "nodes" {
		return 2
	}
	return 1
}

// Open opens a fresh repository that is closed when the test ends. change, which may be
// nil, adjusts its configuration first.
func Open(t testing.TB, change func(*storage.Config)) *storage.Repo {
	t.Helper()
	return OpenNodes(t, 1, change)[0]
}

// OpenNodes is Open for several processes that have one store and the same configuration. If change gives them a store of the
// test's own, there is one.
func OpenNodes(t testing.TB, n int, change func(*storage.Config)) (repos []*storage.Repo) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	directories, err := listed()
	check(t, err)
	blobs, err := blob.Open("", log)
	check(t, err)
	stores := open(t, n)
	var o kv.Options
	if n > 1 {
		o.Lease = 1 // numbers follow each other, whichever process gives them
	}
	first := kv.New(stores[0], o)
	c := storage.Config{DB: first, Blobs: blobs, Types: Types(t), Beside: directories, Owners: owner.All, Log: log, PDFText: pdfText, PasswordMemory: 64}
	if change != nil {
		change(&c)
	}
	dbs := []*kv.DB{c.DB}
	for c.DB == first && len(dbs) < n {
		dbs = append(dbs, kv.New(stores[len(dbs)], o))
	}
	for _, c.DB = range dbs {
		repo, err := storage.Open(context.Background(), c, Password)
		check(t, err)
		repos = append(repos, repo)
	}
	t.Cleanup(func() {
		for _, r := range repos {
			check(t, r.Close())
		}
		check(t, c.Blobs.Close())
		for _, db := range dbs {
			check(t, db.Close())
		}
	})
	return repos
}

// open opens an empty store, as n processes have it.
func open(t testing.TB, n int) []kv.Store {
	t.Helper()
	switch where := os.Getenv("TEST_STORE"); {
	case where == "" || where == "memory":
		return []kv.Store{memory.New()}
	case where != "postgres" && where != "nodes":
		t.Fatalf("TEST_STORE: %q is not memory, postgres or nodes", where)
	}
	return tables(t, n)
}

// Sibling opens a further repository of the same store.
func Sibling(t testing.TB, first *storage.Repo, name string) *storage.Repo {
	t.Helper()
	c := storage.Config{Name: name, First: first, Types: first.Types(), Log: slog.New(slog.DiscardHandler), PDFText: pdfText}
	repo, err := storage.Open(context.Background(), c, "")
	check(t, err)
	t.Cleanup(func() { check(t, repo.Close()) })
	return repo
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

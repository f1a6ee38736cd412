// Package storagetest opens repositories in memory for tests of whatever stands on storage:
// a real store and real permissions, cheap passwords, nothing in the log.
package storagetest

import (
	"context"
	"log/slog"
	"testing"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/schema"
)

// Password is that of the user Administrator.
const Password = "correct horse battery"

// Open opens a fresh repository that is closed when the test ends. change, which may be
// nil, adjusts its configuration first.
func Open(t testing.TB, change func(*storage.Config)) *storage.Repo {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	types, err := schema.Load(schema.Defaults())
	check(t, err)
	blobs, err := blob.Open("", log)
	check(t, err)
	c := storage.Config{DB: kv.New(memory.New(), kv.Options{}), Blobs: blobs, Types: types, Log: log, PasswordMemory: 64}
	if change != nil {
		change(&c)
	}
	repo, err := storage.Open(context.Background(), c, Password)
	check(t, err)
	t.Cleanup(func() {
		check(t, repo.Close())
		check(t, c.Blobs.Close())
		check(t, c.DB.Close())
	})
	return repo
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package repository

import (
	"context"
	"log/slog"
	"testing"

	"catena/engine"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/schema"
)

// files is what a repository lies in.
type files struct {
	db    *kv.DB
	blobs *blob.Store
}

// TestBackup takes a copy of a repository and reads a file in what is restored from it.
func TestBackup(t *testing.T) {
	ctx := context.Background()
	e := open(t, empty(t))
	err := e.Repo().Update(ctx, e.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		_, err = tx.Create(root, "File", "a", storage.Props{"file:content": engine.NewBlob("letter.txt", "text/plain", []byte("Dear all,"))})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Run(ctx, engine.Call{Op: "Repository.Backup", As: e.System()})
	if err != nil {
		t.Fatal(err)
	}
	b := res.Value.(*storage.Blob)
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	copied := empty(t)
	if err := storage.Restore(ctx, copied.db, copied.blobs, r); err != nil {
		t.Fatal(err)
	}
	e = open(t, copied)
	res, err = e.Run(ctx, engine.Call{Op: "Repository.GetDocument", Params: map[string]any{"value": "/a"}, As: e.System()})
	if err != nil {
		t.Fatal(err)
	}
	main, err := res.Value.(*storage.Doc).MainBlob()
	if err != nil || main == nil || main.Name != "letter.txt" || main.Size != 9 {
		t.Errorf("restored file: %+v, %v", main, err)
	}
	res, err = e.Run(ctx, engine.Call{Op: "Repository.Verify", As: e.System()})
	if err != nil || len(res.Value.([]any)) != 0 {
		t.Errorf("problems of the restored repository: %v, %v", res, err)
	}
}

func empty(t *testing.T) files {
	t.Helper()
	blobs, err := blob.Open(t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return files{kv.New(memory.New(), kv.Options{}), blobs}
}

func open(t *testing.T, f files) *engine.Engine {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	repo, err := storage.Open(context.Background(), storage.Config{DB: f.db, Blobs: f.blobs, Types: types, Log: log, PasswordMemory: 64}, "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	set, err := engine.NewSet([]engine.Rule{{Ops: "*", Who: engine.Anyone, From: engine.Everywhere}}, Ops)
	if err != nil {
		t.Fatal(err)
	}
	return engine.New(engine.Config{Repo: repo, Set: set, Log: log})
}

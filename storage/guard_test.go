package storage_test

import (
	"context"
	"testing"

	"catena/storage"
)

// TestFolderGuard moves a folder that another transaction knows from the cache, after
// that one has begun: it runs again and sees the change.
func TestFolderGuard(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/a", "/a/b", "/a/b/c", "/elsewhere"} {
		w.make(path, "Folder", nil)
	}
	move := func(path, to storage.Ref) {
		w.update(w.System(), func(x *storage.Tx) error {
			d, err := x.Doc(path)
			if err != nil {
				return err
			}
			target, err := x.Doc(to)
			if err == nil {
				_, err = x.Move(d, target, "")
			}
			return err
		})
	}
	// create makes a document in c and returns its path, and after how many tries.
	create := func(c storage.Ref, name string, meanwhile func()) (path string, tries int) {
		err := w.Update(context.Background(), w.System(), func(x *storage.Tx) error {
			tries++
			d, err := x.Doc(c)
			if err != nil {
				return err
			}
			if tries == 1 {
				meanwhile()
			}
			d, err = x.Create(d, "File", name, nil)
			if err == nil {
				path = d.Path()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return path, tries
	}
	var id storage.Ref
	w.view(w.System(), func(x *storage.Tx) error {
		d, err := x.Doc("/a/b/c")
		if err == nil {
			id = storage.Ref(d.ID())
		}
		return err
	})
	for _, tt := range []struct {
		c, path, to storage.Ref
		want        string
		tries       int
	}{
		{id, "", "", "/a/b/c/1", 1},
		{id, "/a/b", "/elsewhere", "/elsewhere/b/c/2", 2},
		{"/elsewhere/b/c", "", "", "/elsewhere/b/c/3", 1},
		{id, "/elsewhere/b", "/a", "/a/b/c/4", 2},
		{"/a/b/c", "/elsewhere", "/a", "/a/b/c/5", 1},
	} {
		path, tries := create(tt.c, tt.want[len(tt.want)-1:], func() {
			if tt.path != "" {
				move(tt.path, tt.to)
			}
		})
		if path != tt.want || tries != tt.tries {
			t.Errorf("move of %q to %q while %s is used: %s after %d tries, want %s after %d", tt.path, tt.to, tt.c, path, tries, tt.want, tt.tries)
		}
	}
}

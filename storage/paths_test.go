package storage_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"testing"

	"catena/storage"
	"catena/storage/fault"
)

// TestPathsAgain asks for the same paths again and again while their documents move, get other names, are deleted and made
// again: each transaction finds what is there in its own snapshot, also after changes of its own.
func TestPathsAgain(t *testing.T) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(1, 2))
	var paths []string
	at := map[string]string{} // id by path
	for _, folder := range []string{"/a", "/b"} {
		w.make(folder, "Folder", nil)
		for i := range 4 {
			paths = append(paths, fmt.Sprintf("%s/%d", folder, i))
		}
	}
	check := func(tx *storage.Tx, at map[string]string) {
		t.Helper()
		for range 2 {
			for _, p := range paths {
				d, err := tx.Doc(storage.Ref(p))
				switch {
				case at[p] == "" && fault.Is(err, fault.NotFound):
				case err != nil || d.ID() != at[p] || d.Path() != p:
					t.Fatalf("%s: %v, want %q", p, err, at[p])
				}
			}
		}
	}
	for range 100 {
		w.view(w.System(), func(before *storage.Tx) error {
			old := maps.Clone(at)
			check(before, old)
			w.update(w.System(), func(tx *storage.Tx) error {
				from, to := paths[r.IntN(len(paths))], paths[r.IntN(len(paths))]
				folder, name := path.Split(to)
				d, err := tx.Doc(storage.Ref(from))
				switch {
				case err != nil:
					at[from] = ""
					err = mk(tx, from, "File", nil)
					if made, e := tx.Doc(storage.Ref(from)); e == nil {
						at[from] = made.ID()
					}
				case r.IntN(3) == 0:
					at[from] = ""
					err = tx.Delete(d)
				case at[to] == "":
					var target *storage.Doc
					if target, err = tx.Doc(storage.Ref(path.Clean(folder))); err == nil {
						_, err = tx.Move(d, target, name)
					}
					at[from], at[to] = "", d.ID()
				}
				if err == nil {
					check(tx, at)
				}
				return err
			})
			check(before, old)
			return nil
		})
		w.view(w.System(), func(tx *storage.Tx) error { check(tx, at); return nil })
	}
}

package storage_test

import (
	"fmt"
	"testing"

	"catena/storage"
	"catena/storage/search"
)

// TestTrashOfLargeFolders: of a folder with more below it than one call changes, the rest is marked in parts, also after a break
// in between, and follows whatever was asked for last.
func TestTrashOfLargeFolders(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.Limits.TreeCopy = 20 })
	w.make("/d", "Folder", nil)
	const files = 700
	w.update(w.System(), func(tx *storage.Tx) error {
		for i := range files {
			if i%100 == 0 {
				if err := mk(tx, fmt.Sprintf("/d/%d", i/100), "Folder", nil); err != nil {
					return err
				}
			}
			if err := mk(tx, fmt.Sprintf("/d/%d/%d", i/100, i), "File", nil); err != nil {
				return err
			}
		}
		return nil
	})
	set := func(path string, trashed bool) {
		t.Helper()
		err := w.on(w.System(), path, func(tx *storage.Tx, d *storage.Doc) error {
			d, err := tx.SetTrashed(d, trashed)
			if err == nil && d.IsTrashed() != trashed {
				t.Errorf("%s: trashed %t", path, d.IsTrashed())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	work := func(most int) (turns int) {
		t.Helper()
		for ; turns < most; turns++ {
			if more, err := w.TrashSome(t.Context()); err != nil {
				t.Fatal(err)
			} else if !more {
				break
			}
		}
		return turns
	}
	trashed := func(want int) {
		t.Helper()
		w.view(w.System(), func(tx *storage.Tx) error {
			page, err := search.Query(tx, "SELECT * FROM File WHERE ecm:isTrashed = 1", search.Options{})
			if err == nil && page.Total != want {
				t.Errorf("%d files in the trash, want %d", page.Total, want)
			}
			problems, _ := tx.IndexProblems()
			if len(problems) > 0 {
				t.Errorf("%q", problems[:min(3, len(problems))])
			}
			return err
		})
	}
	set("/d", true)
	trashed(0)
	if n := work(1000); n < 9 || n > 30 {
		t.Errorf("%d transactions for %d files in 7 folders", n, files)
	}
	trashed(files)
	set("/d/3/345", false) // with the folders above it, as after any call
	trashed(files - 1)
	set("/d", true)
	work(3)
	set("/d", false) // before the end of what it was asked for
	work(1000)
	trashed(0)
	set("/d", true)
	work(3)
	if err := w.on(w.System(), "/d", func(tx *storage.Tx, d *storage.Doc) error { return tx.Delete(d) }); err != nil {
		t.Fatal(err)
	}
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	work(1000)
	if n := w.rows("y"); n > 0 {
		t.Errorf("%d rows of folders in work are left", n)
	}
}

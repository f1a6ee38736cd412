package search

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"catena/storage"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/storagetest"
)

// TestRowsOfPages: pages read about what they show, however many documents there are besides.
func TestRowsOfPages(t *testing.T) {
	const files, folders = 3000, 10
	store := &storagetest.Counted{Store: memory.New()}
	w := deck(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) })
	var wide *storage.Doc
	write(t, w.Repo, func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		if err != nil {
			return err
		}
		wide, err = tx.Create(root, "Folder", "wide", nil)
		for i := 0; err == nil && i < folders; i++ {
			_, err = tx.Create(wide, "Folder", fmt.Sprint("folder", i), storage.Props{"dc:title": fmt.Sprint("Folder ", i)})
		}
		for i := 0; err == nil && i < files; i++ {
			var d *storage.Doc
			if d, err = tx.Create(wide, "File", fmt.Sprint("file", i), storage.Props{"dc:title": fmt.Sprint("File ", i)}); err == nil && i%2 == 0 {
				if err = d.AddFacet("Orderable"); err == nil { // its rows do not say all its facets
					_, err = tx.Save(d, storage.SaveOptions{})
				}
			}
		}
		return err
	})
	for _, c := range []struct {
		query string
		found int   // on the first page
		rows  int64 // at most, for each page
	}{
		{"SELECT * FROM Document ORDER BY ecm:uuid", 50, 400},
		{"SELECT * FROM Document ORDER BY ecm:uuid DESC", 50, 400},
		{"SELECT * FROM Document WHERE ecm:isVersion = 0 ORDER BY ecm:uuid", 50, 400},
		{"SELECT * FROM File, Section WHERE ecm:mixinType = 'Folderish' ORDER BY ecm:path", 0, 2500}, // by their types and own facets
		{"SELECT * FROM Document WHERE ecm:parentId = '" + wide.ID() + "' AND ecm:mixinType = 'Folderish' ORDER BY ecm:pos, dc:title", folders, 2 * files},
		{"SELECT * FROM Document WHERE ecm:parentId = '" + wide.ID() + "' AND ecm:mixinType <> 'Folderish' ORDER BY ecm:pos, dc:title", 50, files + 1000},
	} {
		view(t, w.Repo, func(tx *storage.Tx) error {
			after := ""
			for range 5 {
				store.Reset()
				page, err := Query(tx, c.query, Options{PageOptions: storage.PageOptions{Limit: 50, CountLimit: 100, After: after}})
				if err != nil {
					return err
				}
				if n := len(page.Docs); after == "" && n != c.found {
					t.Errorf("%s: %d results", c.query, n)
				}
				if rows := store.Keys.Load() + store.Rows.Load(); rows > c.rows {
					t.Errorf("%s: a page reads %d rows, want at most %d", c.query, rows, c.rows)
				}
				if after = page.Next; after == "" {
					break
				}
			}
			return nil
		})
	}
}

// TestPathsOfRows: what is ordered by names or paths, or has conditions on them, is told by the rows of an index that say where documents
// are; versions and proxies too, and what a folder above is renamed to in the same transaction.
func TestPathsOfRows(t *testing.T) {
	w := deck(t, nil)
	check := func(tx *storage.Tx, src string, most int) []string {
		t.Helper()
		x := planned(t, tx, src)
		if err := x.run(); err != nil || x.t.spent.docs > most {
			t.Errorf("%s: %d documents read by %q (%v)", src, x.t.spent.docs, x.p.path.name, err)
		}
		page, err := Query(tx, src, Options{})
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		var paths []string
		for _, d := range page.Docs {
			paths = append(paths, d.Path())
		}
		return paths
	}
	write(t, w.Repo, func(tx *storage.Tx) error {
		for _, order := range []string{"ecm:path", "ecm:name"} {
			paths := check(tx, "SELECT * FROM Card WHERE card:count > 30 AND ecm:name LIKE 'c%' ORDER BY "+order, 0)
			if len(paths) != 29 || !slices.IsSorted(paths) {
				t.Errorf("by %s: %v", order, paths)
			}
		}
		folder, err := tx.Doc("/cards")
		root, failed := tx.Doc("/")
		if err = cmp.Or(err, failed); err == nil {
			folder, err = tx.Move(folder, root, "deck")
		}
		if err != nil {
			return err
		}
		paths := check(tx, "SELECT * FROM Card WHERE card:count > 30 AND ecm:path LIKE '/deck/%' ORDER BY ecm:path DESC", 0)
		if len(paths) != 29 || paths[0] != "/deck/c59" || folder.Path() != "/deck" {
			t.Errorf("after the folder was renamed: %v", paths)
		}
		return nil
	})
}

package search

import (
	"fmt"
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

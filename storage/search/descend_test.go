package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/storagetest"
)

// TestPathOrder: results in the order of their paths are found down the tree, page by page, and are those that sorting gives: also
// where names go on with characters before the slash, below folders that a user may not read, and while documents go.
func TestPathOrder(t *testing.T) {
	store := &storagetest.Counted{Store: memory.New()}
	w := deck(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) })
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test that can be repeated
	var ids []string
	write(t, w.Repo, func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		if err != nil {
			return err
		}
		if _, err := tx.SetACL(root, "local", []storage.ACE{{User: "ann", Permission: "Read", Granted: true}}); err != nil {
			return err
		}
		folders := []*storage.Doc{root}
		for len(ids) < 700 {
			name := ""
			for range 1 + random.IntN(4) {
				name += []string{"a", "b", "-", ".", " x", "0", "é", "!"}[random.IntN(8)]
			}
			in := folders[random.IntN(len(folders))]
			if some, err := tx.Doc(storage.Ref(strings.TrimSuffix(in.Path(), "/") + "/" + name)); err == nil && some != nil || strings.Trim(name, ". ") == "" {
				continue
			}
			d, err := tx.Create(in, []string{"File", "Folder", "Folder"}[random.IntN(3)], name, storage.Props{"dc:source": fmt.Sprint(len(ids) % 7)})
			if err != nil {
				return err
			}
			ids = append(ids, d.ID())
			if folders = append(folders, d); len(ids)%90 == 0 {
				if _, err := tx.SetACL(d, "local", []storage.ACE{{User: "Everyone", Permission: "Everything"}}); err != nil {
					return err
				}
				below, err := tx.Create(d, "Folder", "open", nil)
				if err != nil {
					return err
				}
				if _, err := tx.SetACL(below, "local", []storage.ACE{{User: "ann", Permission: "Read", Granted: true}}); err != nil {
					return err
				}
				folders = append(folders, below)
			}
		}
		return nil
	})
	ann := &storage.Principal{Name: "ann", Groups: []string{"members"}}
	walked := func(as *storage.Principal, query string, size int) (all []string, rows int64) {
		t.Helper()
		for after, pages := "", 0; ; pages++ {
			store.Reset()
			var page *storage.Page
			if err := w.View(t.Context(), as, func(tx *storage.Tx) (err error) {
				page, err = Query(tx, query, Options{PageOptions: storage.PageOptions{Limit: size, CountLimit: -1, After: after}})
				return err
			}); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			if pages == 0 {
				rows = store.Keys.Load() + store.Rows.Load()
			}
			for _, d := range page.Docs {
				all = append(all, d.Path())
			}
			if after = page.Next; after == "" {
				return all, rows
			}
			if pages > 2000 {
				t.Fatalf("%s: does not end: %q", query, all[len(all)-5:])
			}
		}
	}
	check := func() {
		t.Helper()
		for _, as := range []*storage.Principal{w.System(), ann} {
			some, _ := walked(as, "SELECT * FROM File WHERE ecm:isVersion = 0 ORDER BY ecm:uuid", 1000)
			for _, where := range []string{"", " AND dc:source <> '3'", " AND ecm:path STARTSWITH '/" + strings.Split(some[0], "/")[1] + "'", " AND ecm:path STARTSWITH '/nowhere'"} {
				query := "SELECT * FROM Document WHERE ecm:isVersion = 0" + where
				want, _ := walked(as, query+" ORDER BY ecm:uuid", 1000)
				slices.Sort(want)
				if where == "" && len(want) < 100 {
					t.Fatalf("%s finds %d for %s", query, len(want), as.Name)
				}
				for _, size := range []int{1, 7, 1000} {
					if got, _ := walked(as, query+" ORDER BY ecm:path", size); !slices.Equal(got, want) {
						t.Errorf("%s, %s, pages of %d: %d results, want %d\n%q\n%q", as.Name, query, size, len(got), len(want), got, want)
					}
				}
			}
		}
	}
	check()
	if _, rows := walked(w.System(), "SELECT * FROM Document WHERE ecm:isVersion = 0 ORDER BY ecm:path", 10); rows > 400 {
		t.Errorf("a page of 10 reads %d rows", rows)
	}
	view(t, w.Repo, func(tx *storage.Tx) error { // a total is counted where that is cheapest
		store.Reset()
		page, err := Query(tx, "SELECT * FROM Document WHERE ecm:isVersion = 0 ORDER BY ecm:path", Options{PageOptions: storage.PageOptions{Limit: 10, CountLimit: 500}})
		if rows := store.Keys.Load() + store.Rows.Load(); err == nil && (page.Total != 500 || !page.More || rows > 1400) {
			t.Errorf("total %d, more %t, by %d rows", page.Total, page.More, rows)
		}
		return err
	})
	view(t, w.Repo, func(tx *storage.Tx) error {
		plan, err := Explain(tx, "SELECT * FROM Document WHERE ecm:isVersion = 0 ORDER BY ecm:path", Options{PageOptions: storage.PageOptions{Limit: 10, CountLimit: 500}})
		if !strings.Contains(plan, "order: ecm:path, from the tree") || !strings.Contains(plan, "total: counted by type") {
			t.Errorf("the plan is %s", plan)
		}
		return err
	})
	write(t, w.Repo, func(tx *storage.Tx) error {
		for i := 0; i < len(ids); i += 50 {
			if d, err := tx.Doc(storage.Ref(ids[i])); err == nil {
				if err := tx.Delete(d); err != nil {
					return err
				}
			}
		}
		return nil
	})
	check()
}

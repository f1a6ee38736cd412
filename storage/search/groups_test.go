package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/storagetest"
)

// TestGroups: where most documents have the same value of the first item of ORDER BY, their order comes from the index of the next one.
// The pages are those that sorting gives, in either direction, with values that some lack, for a user who may not read all, and on
// whatever plan; and the first one reads few documents.
func TestGroups(t *testing.T) {
	store := &storagetest.Counted{Store: memory.New()}
	w := deck(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) })
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a test that can be repeated
	type doc struct {
		id, source, title string
		expired           int // 0: none
	}
	var docs, open []doc
	write(t, w.Repo, func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		if err != nil {
			return err
		}
		if _, err := tx.SetACL(root, "local", []storage.ACE{{User: "ann", Permission: "Read", Granted: true}}); err != nil {
			return err
		}
		closed, err := tx.Create(root, "Folder", "closed", nil)
		if err != nil {
			return err
		}
		if _, err := tx.SetACL(closed, "local", []storage.ACE{{User: "Everyone", Permission: "Everything"}}); err != nil {
			return err
		}
		for i := range 300 {
			d := doc{source: []string{"Press", "press", "press", "press", "press", "wire", ""}[random.IntN(7)], title: fmt.Sprint("t", random.IntN(40)), expired: []int{0, 1, 2, 2, 2, 2, 2, 3}[random.IntN(8)]}
			props := storage.Props{"dc:title": d.title}
			if d.source != "" {
				props["dc:source"] = d.source
			}
			if d.expired > 0 {
				props["dc:expired"] = time.Date(2026, 1, 1, 0, 0, 0, d.expired*int(time.Millisecond), time.UTC)
			}
			in := root
			if i%5 == 0 {
				in = closed
			}
			made, err := tx.Create(in, "Picture", fmt.Sprint(i), props)
			if err != nil {
				return err
			}
			d.id = made.ID()
			if docs = append(docs, d); in == root {
				open = append(open, d)
			}
		}
		return nil
	})
	ann := &storage.Principal{Name: "ann", Groups: []string{"members"}}
	compare := map[string]func(a, b doc) int{
		"dc:source":  func(a, b doc) int { return strings.Compare(strings.ToLower(a.source), strings.ToLower(b.source)) },
		"dc:title":   func(a, b doc) int { return strings.Compare(a.title, b.title) },
		"dc:expired": func(a, b doc) int { return a.expired - b.expired },
		"":           func(a, b doc) int { return strings.Compare(a.id, b.id) },
	}
	sorted := func(all []doc, order string) (ids []string) {
		all = slices.Clone(all)
		slices.SortFunc(all, func(a, b doc) int {
			desc := false
			for _, item := range strings.Split(order, ", ") {
				var field string
				field, desc = strings.CutSuffix(item, " DESC")
				if c := compare[field](a, b); c != 0 {
					if desc {
						return -c
					}
					return c
				}
			}
			if c := compare[""](a, b); desc {
				return -c
			} else {
				return c
			}
		})
		for _, d := range all {
			ids = append(ids, d.id)
		}
		return ids
	}
	paged := func(as *storage.Principal, query string, size, count int) (ids []string, total int) {
		for after := ""; ; {
			var page *storage.Page
			if err := w.View(t.Context(), as, func(tx *storage.Tx) (err error) {
				page, err = Query(tx, query, Options{PageOptions: storage.PageOptions{Limit: size, CountLimit: count, After: after}})
				return err
			}); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			for _, d := range page.Docs {
				ids = append(ids, d.ID())
			}
			if total = page.Total; page.Next == "" || len(ids) > 400 {
				return ids, total
			}
			after = page.Next
		}
	}
	for _, sortedAt := range []int{1, 20, 2000} {
		for _, factor := range []int{1, 1000} { // how soon walking is given up
			costs := everyCosts[0]
			costs.Sorted, costs.Factor = sortedAt, factor
			SetCosts(w.Repo, costs)
			for _, order := range []string{
				"dc:source, dc:title", "dc:source DESC, dc:title", "dc:source, dc:title DESC", "dc:source DESC, dc:title DESC",
				"dc:source, dc:expired", "dc:source DESC, dc:expired DESC", "dc:expired, dc:title", "dc:expired DESC, dc:title", "dc:expired DESC, dc:source, dc:title DESC", "dc:source, dc:title, dc:expired DESC", "dc:source DESC, dc:expired, dc:title",
			} {
				for as, all := range map[*storage.Principal][]doc{w.System(): docs, ann: open} {
					want := sorted(all, order)
					got, total := paged(as, "SELECT * FROM Picture WHERE ecm:isVersion = 0 ORDER BY "+order, 23, 1000)
					if !slices.Equal(got, want) || total != len(want) {
						t.Errorf("%d, %d: by %s for %s: %d results, total %d, want %d", sortedAt, factor, order, as.Name, len(got), total, len(want))
					}
				}
			}
		}
	}
	costs := everyCosts[0]
	costs.Sorted = 20
	SetCosts(w.Repo, costs)
	read := func(query string, size, total int) int64 {
		store.Reset()
		if err := w.View(t.Context(), w.System(), func(tx *storage.Tx) error {
			page, err := Query(tx, query, Options{PageOptions: storage.PageOptions{Limit: size, CountLimit: 1000}})
			if err == nil && page.Total != total {
				t.Errorf("%s: total %d, want %d", query, page.Total, total)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return store.Keys.Load()
	}
	if n := read("SELECT * FROM Picture ORDER BY dc:source DESC, dc:title", 80, len(docs)); n > 200 {
		t.Errorf("%d keys are read for a page of 80, of a group of 214", n)
	}
	view(t, w.Repo, func(tx *storage.Tx) error {
		plan, err := Explain(tx, "SELECT * FROM Picture ORDER BY dc:source DESC, dc:title", Options{})
		if !strings.Contains(plan, "the rest sorted in groups, of which large ones are found by dc:title") {
			t.Errorf("the plan is %s", plan)
		}
		return err
	})
	titled, _ := paged(w.System(), "SELECT * FROM Document WHERE dc:title LIKE '%1%'", 1000, 1000)
	if n := read("SELECT * FROM Document WHERE dc:title LIKE '%1%' ORDER BY ecm:uuid", 10, len(titled)); n > 100 || len(titled) < 100 {
		t.Errorf("%d keys are read for a page of 10 of %d and the total, which the rows of titles tell", n, len(titled))
	}
}

package search

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/internal/layout"
	"catena/storage/query"
)

// TestRowsOnly: where the rows of one index say all that a query asks for, no document is read, whatever it asks.
func TestRowsOnly(t *testing.T) {
	w := deck(t, nil)
	view(t, w.Repo, func(tx *storage.Tx) error {
		for _, c := range []struct {
			query, path string
			found       int
			docs        int // at most so many are read
		}{
			{"SELECT * FROM Document WHERE dc:title LIKE '%3%'", "dc:title", 15, 0},
			{"SELECT * FROM Document WHERE NOT dc:title LIKE '%3%' AND ecm:primaryType <> 'Folder'", "dc:title", 51, 0},
			{"SELECT * FROM Document WHERE dc:title LIKE '%3%' AND ecm:currentLifeCycleState = 'project'", "dc:title", 15, 0},
			{"SELECT * FROM Document ORDER BY ecm:primaryType, dc:title", "dc:title", 68, 0},
			{"SELECT * FROM Document WHERE dc:title LIKE '%3%' ORDER BY ecm:primaryType DESC, dc:title", "dc:title", 15, 0},
			{"SELECT * FROM Document WHERE dc:title LIKE '%3%' AND dc:description IS NULL", "type", 15, 68},
			{"SELECT * FROM Document WHERE dc:title LIKE '%3%' ORDER BY ecm:primaryType DESC, dc:description", "type", 15, 68},
		} {
			x := planned(t, tx, c.query)
			if err := x.run(); err != nil || x.p.path.name != c.path || len(x.candidates) != c.found || x.t.spent.docs > c.docs {
				t.Errorf("%s: %q finds %d and reads %d documents (%v)", c.query, x.p.path.name, len(x.candidates), x.t.spent.docs, err)
			}
			var got []string
			page, err := Query(tx, c.query, Options{PageOptions: storage.PageOptions{Limit: 4}})
			for err == nil && page != nil {
				got = append(got, names(page)...)
				page, err = Next(tx, page)
			}
			all, failed := Query(tx, c.query, Options{})
			if err != nil || failed != nil || len(got) != c.found || !slices.Equal(got, names(all)) {
				t.Errorf("%s: page by page %v (%v, %v)", c.query, got, err, failed)
			}
		}
		return nil
	})
}

// TestValuesOfRows: values that the rows of an index have are counted without reading documents, and are those of the documents.
func TestValuesOfRows(t *testing.T) {
	w := deck(t, nil)
	for _, c := range []struct {
		query, path string
		found, docs int
	}{
		{"SELECT dc:title FROM Document", "dc:title", 68, 0},
		{"SELECT dc:creator, ecm:primaryType FROM Document WHERE ecm:isVersion = 0 ORDER BY dc:title", "dc:creator", 67, 0},
		{"SELECT ecm:primaryType, ecm:currentLifeCycleState FROM Document", "dc:modified", 68, 0},
		{"SELECT dc:title FROM Document WHERE dc:title LIKE '%3%'", "dc:title", 15, 0},
		{"SELECT dc:title, dc:creator FROM Document", "dc:modified", 68, 68},
		{"SELECT card:tags FROM Document", "dc:modified", 68, 68},
		{"SELECT dc:title FROM Card WHERE card:count = 7", "card:count", 1, 1},
	} {
		view(t, w.Repo, func(tx *storage.Tx) error {
			x := planned(t, tx, c.query)
			x.unordered()
			n := 0
			err := x.whole(x.p.q.Columns, func(id layout.ID, values []any) (bool, error) {
				d, err := x.t.in().Load(id)
				for i, column := range x.p.q.Columns {
					want, failed := query.FieldValue(column.Field, docSource{tx, d})
					if err = cmp.Or(err, failed); fmt.Sprint(values[i]) != fmt.Sprint(want) {
						t.Errorf("%s: %v, want %v", c.query, values[i], want)
					}
				}
				n++
				return true, err
			})
			if err != nil || x.p.path.name != c.path || n != c.found || x.t.spent.docs != c.docs {
				t.Errorf("%s: %q has %d results, and reads %d documents (%v)", c.query, x.p.path.name, n, x.t.spent.docs, err)
			}
			return nil
		})
	}
}

// TestWideFolder: of a folder with more documents than are listed for every query, they are listed where few of them match along
// an order or an index.
func TestWideFolder(t *testing.T) {
	w := deck(t, nil)
	write(t, w.Repo, func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		if err != nil {
			return err
		}
		folder, err := tx.Create(root, "Folder", "other", nil)
		for i := 0; err == nil && i < 600; i++ {
			_, err = tx.Create(folder, "Note", fmt.Sprint("n", i), storage.Props{"dc:title": fmt.Sprintf("m%03d", i)})
		}
		return err
	})
	costs := everyCosts[0]
	costs.Sorted, costs.Few, costs.Subtree, costs.Factor = 5, 1, 10, 1
	for _, c := range []struct {
		where, path string
		found, rows int
	}{
		{"card:note = 'n1' ORDER BY dc:title", "dc:title", 12, 250},
		{"card:note = 'n1' ORDER BY dc:title DESC", "dc:title", 12, 250},
		{"card:note = 'n1'", "type", 12, 250},
		{"card:note = 'n9' ORDER BY dc:title", "dc:title", 0, 250},
		{"ecm:mixinType = 'Versionable' AND card:note = 'n1' ORDER BY dc:title", "dc:title", 12, 250},
	} {
		src := "SELECT * FROM Document WHERE ecm:path STARTSWITH '/cards' AND " + c.where
		for range 2 { // how large the folder is may be known
			SetCosts(w.Repo, costs)
			view(t, w.Repo, func(tx *storage.Tx) error {
				x := planned(t, tx, src)
				if err := x.run(); err != nil || x.p.path.name != c.path || len(x.candidates) != c.found || x.page.Total != c.found || x.t.spent.rows > c.rows {
					t.Errorf("%s: %q finds %d of %d with %d rows (%v)", c.where, x.p.path.name, len(x.candidates), x.page.Total, x.t.spent.rows, err)
				}
				got, err := Query(tx, src, Options{})
				SetCosts(w.Repo, everyCosts[0])
				want, failed := Query(tx, src, Options{})
				if err != nil || failed != nil || !slices.Equal(names(got), names(want)) {
					t.Errorf("%s: %v, want %v (%v, %v)", c.where, names(got), names(want), err, failed)
				}
				return nil
			})
		}
	}
}

// TestNoneWithoutValue: that all documents have a title is seen from the index of those without one, and none is read to find that out,
// also if the matches are known.
func TestNoneWithoutValue(t *testing.T) {
	w := deck(t, nil)
	costs := everyCosts[0]
	costs.Few = 10 // sixty documents are many
	SetCosts(w.Repo, costs)
	for _, order := range []string{"dc:title", "dc:title DESC"} {
		src := "SELECT * FROM Card ORDER BY " + order
		view(t, w.Repo, func(tx *storage.Tx) error {
			x := planned(t, tx, src)
			if err := x.run(); err != nil || !x.p.nulls || x.p.finders == nil || len(x.candidates) != 60 || x.t.spent.docs > 0 {
				t.Errorf("%s: %d found, and %d documents read (%v)", order, len(x.candidates), x.t.spent.docs, err)
			}
			plan, err := Explain(tx, src, Options{PageOptions: storage.PageOptions{Limit: 10}})
			if err != nil || !strings.Contains(plan, ", 0 documents besides") {
				t.Errorf("%s: %v\n%s", order, err, plan)
			}
			return nil
		})
	}
}

// TestWithoutValue: which documents lack a value of a field is seen from its index, and not from each document.
func TestWithoutValue(t *testing.T) {
	w := deck(t, nil)
	costs := everyCosts[0]
	costs.Sorted, costs.Few = 5, 1
	SetCosts(w.Repo, costs)
	view(t, w.Repo, func(tx *storage.Tx) error {
		for _, order := range []string{"card:shelf, dc:title", "card:shelf, dc:title DESC", "card:shelf DESC, dc:title"} {
			x := planned(t, tx, "SELECT * FROM Card ORDER BY "+order)
			if err := x.run(); err != nil || !x.p.nulls || len(x.candidates) != 60 || x.t.spent.docs > 5+6 {
				t.Errorf("%s: %d found, and %d documents read (%v)", order, len(x.candidates), x.t.spent.docs, err)
			}
		}
		return nil
	})
}

// TestVisited: a page of results that were all visited before is that of a transaction that has not seen them, in each order and page by
// page. What others have visited, another query, and what was visited before a change are no results.
func TestVisited(t *testing.T) {
	w := deck(t, nil)
	visit := func(tx *storage.Tx, where string) {
		n := 0
		more, err := Values(tx, "SELECT dc:title, card:count FROM Card WHERE "+where, Options{}, 100, func([]any) error { n++; return nil })
		if err != nil || more || n == 0 {
			t.Fatalf("%d visited, more: %t (%v)", n, more, err)
		}
	}
	const where = "card:note = 'n1' AND dc:title <> 't13'"
	for _, costs := range everyCosts {
		SetCosts(w.Repo, costs)
		for _, order := range []string{"", "dc:title", "dc:title DESC", "card:shelf, ecm:uuid DESC", "ecm:uuid", "card:note, card:count DESC"} {
			src := "SELECT * FROM Card WHERE " + where
			if order != "" {
				src += " ORDER BY " + order
			}
			pages := func(visited bool) (all []string) {
				view(t, w.Repo, func(tx *storage.Tx) error {
					if visited {
						visit(tx, where)
					}
					page, err := Query(tx, src, Options{PageOptions: storage.PageOptions{Limit: 5}})
					for err == nil && page != nil {
						all = append(all, fmt.Sprint(page.Total, page.More, names(page)))
						page, err = Next(tx, page)
					}
					return err
				})
				return all
			}
			if got, want := pages(true), pages(false); !slices.Equal(got, want) || len(want) != 3 {
				t.Errorf("%s: %v, want %v", src, got, want)
			}
		}
	}
	src := "SELECT * FROM Card WHERE " + where + " ORDER BY dc:title"
	view(t, w.Repo, func(tx *storage.Tx) error {
		visit(tx, where)
		page, err := Query(tx.As(&storage.Principal{Name: "bob"}), src, Options{})
		if err != nil || len(page.Docs) > 0 || page.Total > 0 {
			t.Errorf("bob: %v (%v)", names(page), err)
		}
		x := planned(t, tx, src)
		if err := x.run(); err != nil || x.t.spent.rows < 60 || x.before == 0 {
			t.Errorf("%d rows and %v counted of what was visited (%v)", x.t.spent.rows, x.before, err)
		}
		page, err = Query(tx, strings.Replace(src, "n1", "n2", 1), Options{})
		if err != nil || len(page.Docs) != 12 {
			t.Errorf("another query: %v (%v)", names(page), err)
		}
		return err
	})
	write(t, w.Repo, func(tx *storage.Tx) error {
		reader := tx.As(&storage.Principal{Name: "reader", Admin: true, ReadOnly: true})
		visit(reader, where)
		before, err := Query(tx, src, Options{})
		if err != nil {
			return err
		}
		if err := before.Docs[0].Set("card:note", "n2"); err != nil {
			return err
		}
		if _, err := tx.Save(before.Docs[0], storage.SaveOptions{}); err != nil {
			return err
		}
		page, err := Query(reader, src, Options{})
		if err != nil || len(page.Docs) != len(before.Docs)-1 || page.Total != len(before.Docs)-1 {
			t.Errorf("after a change: %v (%v)", names(page), err)
		}
		return err
	})
	view(t, w.Repo, func(tx *storage.Tx) error {
		ended, n := errors.New("ended"), 0
		_, err := Values(tx, "SELECT dc:title FROM Card", Options{}, -1, func([]any) error { n++; return ended })
		if !errors.Is(err, ended) || n != 1 {
			t.Errorf("%d visited after the end (%v)", n, err)
		}
		return nil
	})
}

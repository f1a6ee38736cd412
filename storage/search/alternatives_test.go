package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/kv"
)

// TestAlternatives: an OR is answered from the indexes of its alternatives if each has one, page by page, without reading
// others, and finds a document once however many of them it meets.
func TestAlternatives(t *testing.T) {
	w := deck(t, nil)
	costs := everyCosts[0]
	costs.Few = 0
	SetCosts(w.Repo, costs)
	view(t, w.Repo, func(tx *storage.Tx) error {
		folder, err := tx.Doc("/cards")
		if err != nil {
			return err
		}
		in := "'" + folder.ID() + "'"
		for _, c := range []struct {
			where, path string
			found       int
			rows        int // at most so many are read
		}{
			{"card:count = 7 OR card:count > 50 OR card:due = DATE '2026-03-02'", "OR 0: card:count | card:count | card:due", 16, 18},
			{"card:count = 7 OR card:count > 55 OR card:count BETWEEN 50 AND 57", "OR 0: card:count | card:count | card:count", 11, 12},
			{"card:note = 'n1' OR card:count = 7", "type", 13, 61},
			{"NOT (card:count = 7 OR card:count = 8)", "card:count", 58, 60},
			{"(card:count = 7 AND card:note = 'n2') OR (card:note = 'n1' AND dc:title = 't37')", "OR 0: card:count | dc:title", 2, 3},
			{"(card:count = 7 OR dc:title = 't37') AND (card:count < 5 OR dc:title = 't02')", "OR 0: card:count | dc:title", 1, 3},
			{"ecm:path = '/cards/c05' OR ecm:path = '/cards/c06' OR dc:title = 't37'", "OR 0: ecm:uuid | ecm:uuid | dc:title", 3, 4},
			{"dc:title = 't37' OR ecm:path STARTSWITH '/nowhere' OR card:count = 1", "OR 0: dc:title | ecm:uuid | card:count", 1, 3},
			{"ecm:parentId IN (" + in + ", 'x')", "type", 60, 61},
			{"ecm:parentId IN (" + in + ")", "children", 60, 61},
			{"(ecm:mixinType = 'Folderish' AND card:count = 7) OR dc:title = 't37'", "OR 0: card:count | dc:title", 1, 3},
			{"(ecm:mixinType = 'Folderish' AND dc:title = 't37') OR card:count = 7", "OR 0: dc:title | card:count", 1, 3},
			{"(card:count > 40 OR dc:title = 't14') AND card:note = 'n1' AND ecm:mixinType != 'Folderish'", "OR 0: card:count | dc:title", 4, 20},
			{"card:tags/* IN ('x1', 'x2') OR card:count = 1", "OR 0: card:tags | card:count", 30, 32},
			{"card:tags/* = 'x1' OR card:tags/* = 'y' OR card:count < 10", "type", 60, 61},
			{"card:shelf IS NULL OR card:count = 1", "type", 54, 61},
			{"card:code = 'a' OR card:count = 1", "OR 0: card:code, card:count desc; card:share of type Card | card:count", 21, 22},
			{"card:count = 1 OR (card:done = 1 AND card:due = DATE '2026-03-03')", "OR 0: card:count | card:done, card:due of type Card", 5, 8},
		} {
			src := "SELECT * FROM Card WHERE " + c.where
			x := planned(t, tx, src)
			if err := x.run(); err != nil || x.p.path.name != c.path || len(x.candidates) != c.found || x.page.Total != c.found || x.t.spent.rows > c.rows {
				t.Errorf("%s: %q finds %d of %d with %d rows (%v)", c.where, x.p.path.name, len(x.candidates), x.page.Total, x.t.spent.rows, err)
			}
			all, err := Query(tx, src, Options{})
			if err != nil {
				return err
			}
			for _, size := range []int{1, 7} {
				var got []string
				page, err := Query(tx, src, Options{PageOptions: storage.PageOptions{Limit: size}})
				for err == nil && page != nil {
					got = append(got, names(page)...)
					page, err = Next(tx, page)
				}
				if err != nil || !slices.Equal(got, names(all)) {
					t.Errorf("%s by %d: %v\n%v\nwant\n%v", src, size, err, got, names(all))
				}
			}
		}
		return nil
	})
}

// TestFewOfAnOrder: where an index has the order, few documents of a facet or a state are found by another one and sorted.
func TestFewOfAnOrder(t *testing.T) {
	w := deck(t, nil)
	costs := everyCosts[0]
	costs.Few = 10
	SetCosts(w.Repo, costs)
	write(t, w.Repo, func(tx *storage.Tx) (err error) {
		for _, path := range []storage.Ref{"/cards/c09", "/cards/c03", "/cards/c04"} {
			d, failed := tx.Doc(path)
			if err = cmp.Or(err, failed); err == nil {
				err = cmp.Or(d.AddFacet("Orderable"), d.Set("card:code", "a"))
			}
			if err == nil {
				_, err = tx.Save(d, storage.SaveOptions{})
			}
			if err == nil {
				_, err = tx.Follow(d, "approve")
			}
		}
		return err
	})
	view(t, w.Repo, func(tx *storage.Tx) error {
		for _, where := range []string{"ecm:mixinType = 'Orderable'", "ecm:currentLifeCycleState = 'approved'"} {
			src := "SELECT * FROM Card WHERE " + where + " ORDER BY card:code, card:count DESC"
			x := planned(t, tx, src)
			if err := x.run(); err != nil || x.t.spent.rows > 4 {
				t.Errorf("%s: %d rows by %q (%v)", src, x.t.spent.rows, x.p.path.name, err)
			}
			page, err := Query(tx, src, Options{})
			if err != nil || !slices.Equal(names(page), []string{"c09", "c04", "c03"}) {
				t.Errorf("%s: %v (%v)", src, names(page), err)
			}
		}
		return nil
	})
}

// TestAlternativesGoOn: a page goes on with the indexes that the first was made with, also if others would be chosen by now, and
// a cursor that names none of them is refused.
func TestAlternativesGoOn(t *testing.T) {
	w := deck(t, nil)
	src := "SELECT * FROM Card WHERE card:count > 50 OR (card:count > 40 AND card:due >= DATE '2026-03-01')"
	costs := everyCosts[0]
	costs.Few = 0
	SetCosts(w.Repo, costs)
	view(t, w.Repo, func(tx *storage.Tx) error {
		all, err := Query(tx, src, Options{})
		if err != nil {
			return err
		}
		page, err := Query(tx, src, Options{PageOptions: storage.PageOptions{Limit: 5}})
		if err != nil {
			return err
		}
		from, err := parseCursor(page.Next)
		if err != nil || !strings.HasPrefix(from.access, "OR 0: card:count | ") {
			t.Fatalf("%v: %+v", err, from)
		}
		SetCosts(w.Repo, Costs{2000, 100_000, 0, 200_000, 300, 10}) // would walk along the type
		got := names(page)
		for err == nil && page != nil {
			if page, err = Next(tx, page); page != nil {
				got = append(got, names(page)...)
			}
		}
		if err != nil || !slices.Equal(got, names(all)) {
			t.Errorf("%v: %v, want %v", err, got, names(all))
		}
		for _, access := range []string{"OR 1: card:count | card:due", "OR 0: card:count", "OR 0: card:due | card:due", "OR 0: ", "OR ", "OR 0"} {
			forged := *from
			forged.access = access
			if _, err := Query(tx, src, Options{PageOptions: storage.PageOptions{After: forged.String()}}); err == nil || !strings.Contains(err.Error(), "cursor: was not returned by this query") {
				t.Errorf("%s: %v", access, err)
			}
		}
		return nil
	})
}

// TestAdviceForAlternatives: an OR is cheap once the alternative without an index has one, which is advised.
func TestAdviceForAlternatives(t *testing.T) {
	w := deck(t, nil)
	costs := everyCosts[0]
	costs.Few = 0
	SetCosts(w.Repo, costs)
	view(t, w.Repo, func(tx *storage.Tx) error {
		for where, want := range map[string]string{
			"card:count = 1 OR card:note = 'n1'":                                             "[card:note]",
			"(card:note = 'n1' AND file:content/length > 5) OR card:count = 1":               "[card:note, file:content/length]",
			"card:count = 1 OR card:note LIKE '%n' OR card:note = 'n1'":                      "[card:note]",
			"card:count = 1 OR card:due > DATE '2026-03-08'":                                 "",
			"card:code = 'a' AND card:note = 'x' AND (card:count = 1 OR card:note = 'n1')":   "{columns: [card:code, card:note], include: [card:count]}",
			"dc:contributors/* = 'bob' OR card:count = 5":                                    "[dc:contributors/*]",
			"card:count = 1 OR ecm:lockCreated > DATE '2026-03-08' OR dc:contributors = 'a'": "",
		} {
			x := planned(t, tx, "SELECT * FROM Card WHERE "+where)
			x.t.spent.docs = 10_000 // as if there were many
			declare, index := x.advice(false)
			if got := index.String(); declare == "" && want != "" || declare != "" && !strings.HasSuffix(declare, "["+want+"]") {
				t.Errorf("%s: %q (%s), want %s", where, declare, got, want)
			}
		}
		return nil
	})
}

// TestUnion: ranges that overlap or touch become one, and open ends stay open.
func TestUnion(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"a-c", "b-d", "a-d"},
		{"a-b", "c-d", "a-b c-d"},
		{"c-d", "a-b", "a-b c-d"},
		{"a-b", "b-c", "a-c"},
		{"a-", "b-c", "a-"},
		{"b-c", "a-", "a-"},
		{"a-z", "b-c d-e", "a-z"},
		{"a-b c-d", "b-c", "a-d"},
		{"", "a-b", "a-b"},
		{"a-b", "a-b", "a-b"},
		{"a-b", "a-", "a-"},
	} {
		if got := rangesText(union(rangesOf(c.a), rangesOf(c.b))); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

func rangesOf(text string) (out []kv.Range) {
	for _, one := range strings.Fields(text) {
		start, end, _ := strings.Cut(one, "-")
		r := kv.Range{Start: []byte(start)}
		if end != "" {
			r.End = []byte(end)
		}
		out = append(out, r)
	}
	return out
}

func rangesText(ranges []kv.Range) string {
	var out []string
	for _, r := range ranges {
		out = append(out, fmt.Sprintf("%s-%s", r.Start, r.End))
	}
	return strings.Join(out, " ")
}

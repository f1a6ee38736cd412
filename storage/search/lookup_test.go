package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/query"
	"catena/storage/storagetest"
)

// TestLookup finds the documents that have exactly a text, of whatever length, and of them no versions, no proxies and none that the
// caller may not read.
func TestLookup(t *testing.T) {
	w := deck(t, nil)
	texts := []string{
		"", "a", "A", "ab", "a\x00", "a\x00b", "É", "é", "\u212a", "k", long[:layout.MaxIndexed-1], long, long + "x", long + "y", strings.ToUpper(long),
		long[:layout.MaxIndexed-1] + "é", long[:layout.MaxIndexed-1] + "è",
	}
	write(t, w.Repo, func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		for i, text := range texts {
			if err != nil {
				return err
			}
			var d *storage.Doc
			if d, err = tx.Create(root, "Card", fmt.Sprint("x", i), storage.Props{"card:shelf": text}); err == nil {
				_, err = tx.CheckIn(d, false, "")
			}
		}
		return err
	})
	view(t, w.Repo, func(tx *storage.Tx) error {
		for i, text := range append(texts, "none", long[1:], "b") {
			want := []string{fmt.Sprint("x", i)}
			if i >= len(texts) {
				want = nil
			}
			docs, err := Lookup(tx, "card:shelf", text)
			if err != nil {
				return err
			}
			if got := names(&storage.Page{Docs: docs}); text != "" && !slices.Equal(got, want) {
				t.Errorf("%.20q (%d bytes): %v, want %v", text, len(text), got, want)
			}
		}
		return nil
	})
	err := w.View(t.Context(), &storage.Principal{Name: "ann"}, func(tx *storage.Tx) error {
		docs, err := Lookup(tx, "card:shelf", "ab")
		if len(docs) > 0 {
			t.Errorf("found without the right to read: %v", names(&storage.Page{Docs: docs}))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestValues gives the columns of every result up to a bound, and says whether there are more.
func TestValues(t *testing.T) {
	w := deck(t, nil)
	view(t, w.Repo, func(tx *storage.Tx) error {
		for _, c := range []struct {
			where      string
			most, want int
			more       bool
		}{
			{"card:count < 10", 100, 10, false},
			{"card:count < 10", 10, 10, false},
			{"card:count < 10", 9, 9, true},
			{"card:count < 10", 0, 0, true},
			{"card:count < 0", 0, 0, false},
			{"card:note = 'n1'", 5, 5, true},
		} {
			var got []string
			more, err := Values(tx, "SELECT card:count, card:tags FROM Card WHERE "+c.where+" ORDER BY card:count", Options{}, c.most, func(v []any) error {
				got = append(got, fmt.Sprint(v...))
				if n := v[0].(int64); fmt.Sprint(v[1]) != fmt.Sprintf("[x%d y]", n%4) {
					t.Errorf("%v", v)
				}
				return nil
			})
			if slices.Sort(got); err != nil || more != c.more || len(got) != c.want || len(slices.Compact(got)) != c.want {
				t.Errorf("%s up to %d: %v, more %t, %v", c.where, c.most, got, more, err)
			}
		}
		return nil
	})
}

// TestSelect computes columns, distinct rows and aggregates like the documents have them.
func TestSelect(t *testing.T) {
	w := deck(t, nil)
	view(t, w.Repo, func(tx *storage.Tx) error {
		for src, want := range map[string]string{
			"SELECT COUNT(*) FROM Card": "[map[COUNT(*):60]]",
			"SELECT COUNT(card:shelf), MAX(card:count), MIN(card:code) FROM Card":                    "[map[COUNT(card:shelf):6 MAX(card:count):59 MIN(card:code):a]]",
			"SELECT SUM(card:count), AVG(card:count) FROM Card WHERE card:count < 4":                 "[map[AVG(card:count):1.5 SUM(card:count):6]]",
			"SELECT COUNT(DISTINCT card:tags/*) FROM Card":                                           "[map[COUNT(DISTINCT card:tags/*):5]]",
			"SELECT DISTINCT card:note FROM Card ORDER BY card:note DESC":                            "[map[card:note:n4] map[card:note:n3] map[card:note:n2] map[card:note:n1] map[card:note:n0]]",
			"SELECT DISTINCT card:done, card:code FROM Card WHERE card:count < 2 ORDER BY card:code": "[map[card:code:a card:done:true] map[card:code:B card:done:false]]",
			"SELECT card:count FROM Card WHERE card:count < 3 ORDER BY card:count DESC":              "[map[card:count:2] map[card:count:1] map[card:count:0]]",
			"SELECT MAX(card:count) FROM Card WHERE card:count < 0":                                  "[map[MAX(card:count):<nil>]]",
			"SELECT card:shelf FROM Card WHERE card:count IN (9, 10) ORDER BY card:count":            "[map[card:shelf:<nil>] map[card:shelf:s10]]",
			"SELECT card:count FROM Card WHERE card:count >= 5 ORDER BY card:count LIMIT 2":          "[map[card:count:5] map[card:count:6]]",
		} {
			rows, err := Select(tx, src, Options{})
			if err != nil {
				t.Errorf("%s: %v", src, err)
				continue
			}
			if got := fmt.Sprint(rows.Entries); got != want {
				t.Errorf("%s: %s, want %s", src, got, want)
			}
		}
		return nil
	})
}

// TestRefusedQueries: what cannot be answered is refused with its reason, before anything is read.
func TestRefusedQueries(t *testing.T) {
	w := deck(t, func(c *storage.Config) { c.Limits.QueryRows = 20 })
	view(t, w.Repo, func(tx *storage.Tx) error {
		for _, c := range []struct {
			src    string
			o      Options
			kind   fault.Kind
			reason string
		}{
			{"SELECT * FROM Card ORDER BY card:tags/*", Options{}, fault.Invalid, "has several values and cannot be ordered"},
			{"SELECT * FROM Card", Options{Sort: []storage.SortKey{{Field: "card:none"}}}, fault.Invalid, "card:none"},
			{"SELECT * FROM Card", Options{Sort: []storage.SortKey{{Field: "a b"}}}, fault.Invalid, `sort by "a b"`},
			{"SELECT * FROM Card", Options{Sort: make([]storage.SortKey, query.MaxOrder+1)}, fault.Limit, fmt.Sprintf("sort: %d fields, limit %d", query.MaxOrder+1, query.MaxOrder)},
			{"SELECT * FROM Card WHERE card:note = ?", Options{}, fault.Invalid, ""},
			{"SELECT * FROM Card WHERE card:note = 'n1'", Options{}, fault.Limit, "query: more than 20 rows read for card:note = 'n1'"},
			{"SELECT * FROM Nope", Options{}, fault.Invalid, "Nope"},
		} {
			_, err := Query(tx, c.src, c.o)
			storagetest.WantKind(t, err, c.kind, c.reason)
		}
		return nil
	})
	slowest := Slowest(w.Repo)
	if len(slowest) != 1 || slowest[0].Shape != "FROM Card WHERE card:note =" || slowest[0].Refused != 1 || slowest[0].Advice != "declare on type Card: indexes: [[card:note]]" {
		t.Errorf("%+v", slowest)
	}
}

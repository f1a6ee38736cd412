package search

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/storagetest"
)

// TestCursorRoundTrip: what a cursor says is read again as it was, whatever it is.
func TestCursorRoundTrip(t *testing.T) {
	key := []byte("a key of at least sixteen bytes")
	for _, passed := range []int{0, 1, 50, 1 << 40, math.MaxInt} {
		for _, total := range []int{-1, 0, 1, 63, 64, math.MaxInt} {
			for _, c := range []cursor{{access: "", key: key}, {access: "dc:title", more: true, key: key[:16]}, {access: strings.Repeat("ä\x00", 300), key: append(key, 0, 0xff)}} {
				c.passed, c.total = passed, total
				got, err := parseCursor(c.String())
				if err != nil || got.passed != c.passed || got.total != c.total || got.more != c.more || got.access != c.access || string(got.key) != string(c.key) {
					t.Errorf("%+v became %+v, %v", c, got, err)
				}
			}
		}
	}
}

// TestCursorDamaged: no beginning of a cursor and nothing else that is not one is taken, and none of it panics.
func TestCursorDamaged(t *testing.T) {
	whole := (&cursor{passed: 300, total: 7000, access: "dc:title", key: []byte("sixteen bytes...")}).String()
	bad := []string{"", " ", "!", "AAAA", whole + "=", "=" + whole, strings.Repeat("_", 400)}
	for i := range len(whole) {
		bad = append(bad, whole[:i])
	}
	for _, c := range []struct{ passed, total int }{{-1, 0}, {math.MinInt, 0}, {0, -2}, {0, math.MinInt}} {
		bad = append(bad, (&cursor{passed: c.passed, total: c.total, key: make([]byte, 16)}).String())
	}
	for _, raw := range []string{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x01\x01\x00\xff\xff\xff\xff\x0fabc", "\x01\x01\x01\x10abc"} {
		bad = append(bad, base64.RawURLEncoding.EncodeToString([]byte(raw)))
	}
	for _, s := range bad {
		if c, err := parseCursor(s); err == nil || !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "cursor: ") {
			t.Errorf("%q: %+v, %v", s, c, err)
		}
	}
}

// keyOf is a sort key of values, those after a "-" in descending order, and an id.
func keyOf(id byte, values ...any) []byte {
	var key []byte
	desc := false
	for _, v := range values {
		if v == "-" {
			desc = true
			continue
		}
		n := len(key)
		key, _ = layout.AppendValue(key, v)
		if desc {
			kv.Invert(key[n:])
		}
		desc = false
	}
	return append(key, []byte(strings.Repeat(string(rune(id)), 16))...)
}

// TestSplit takes sort keys apart: only one that has a value in the right direction for each item of ORDER BY is one.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		order string
		key   []byte
		want  int // values; -1: refused
	}{
		{"card:code", keyOf('i', "a"), 1},
		{"card:code", keyOf('i', nil), 1},
		{"card:code", keyOf('i', "a\x00\x01b"), 1},
		{"card:code DESC", keyOf('i', "-", "a"), 1},
		{"card:code DESC", keyOf('i', "-", "a\xff\xfe\x00"), 1},
		{"card:code DESC", keyOf('i', "a"), -1},
		{"card:code", keyOf('i', "-", "a"), -1},
		{"card:code", keyOf('i'), -1},
		{"card:code", keyOf('i', "a", "b"), -1},
		{"card:code", nil, -1},
		{"card:code", []byte("fifteen bytes.."), -1},
		{"card:code, card:count DESC", keyOf('i', "a", "-", int64(7)), 2},
		{"card:code, card:count DESC", keyOf('i', "a", int64(7)), -1},
		{"card:code, card:count DESC", keyOf('i', "a"), -1},
		{"card:done, card:due, card:share", keyOf('i', true, int64(1), 2.5), 3},
		{"card:done DESC, card:due, card:share DESC", keyOf('i', "-", false, nil, "-", nil), 3},
	} {
		p := &plan{order: selected(t, "SELECT * FROM Card ORDER BY "+c.order).Order}
		values, err := p.split(c.key)
		if err != nil {
			if c.want >= 0 || !fault.Is(err, fault.Invalid) {
				t.Errorf("%s: %x: %v", c.order, c.key, err)
			}
			continue
		}
		joined := slices.Concat(values...)
		if len(values) != c.want || string(joined) != string(c.key[:len(c.key)-16]) {
			t.Errorf("%s: %x became %x", c.order, c.key, values)
		}
		for p.lead = range len(p.order) + 1 {
			if got := p.leading(c.key); string(got) != string(slices.Concat(values[:p.lead]...)) {
				t.Errorf("%s: the first %d of %x are %x", c.order, p.lead, c.key, got)
			}
		}
	}
}

// deck is a repository with cards: 60 in a folder and one of another type beside it.
func deck(t *testing.T, change func(*storage.Config)) *storagetest.World {
	t.Helper()
	w := &storagetest.World{Repo: storagetest.Open(t, func(c *storage.Config) {
		types, err := cards()
		if c.Types = types; err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(c)
		}
	})}
	write(t, w.Repo, func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		if err != nil {
			return err
		}
		folder, err := tx.Create(root, "Folder", "cards", nil)
		for i := 0; err == nil && i < 60; i++ {
			props := storage.Props{
				"dc:title": fmt.Sprintf("t%02d", i*37%60), "card:code": []string{"a", "B", "c"}[i%3], "card:count": int64(i), "card:share": float64(i%7) / 2,
				"card:done": i%2 == 0, "card:note": fmt.Sprintf("n%d", i%5), "card:tags": []any{fmt.Sprint("x", i%4), "y"}, "card:due": day.AddDate(0, 0, i%9),
			}
			if i%10 == 0 {
				props["card:shelf"] = fmt.Sprint("s", i)
			}
			_, err = tx.Create(folder, "Card", fmt.Sprintf("c%02d", i), props)
		}
		if err == nil {
			_, err = tx.Create(root, "Note", "note", storage.Props{"dc:title": "t00"})
		}
		return err
	})
	return w
}

func write(t *testing.T, r *storage.Repo, fn func(*storage.Tx) error) {
	t.Helper()
	if err := r.Update(t.Context(), r.System(), fn); err != nil {
		t.Fatal(err)
	}
}

// view carries out fn, which only reads.
func view(t *testing.T, r *storage.Repo, fn func(*storage.Tx) error) {
	t.Helper()
	if err := r.View(t.Context(), r.System(), fn); err != nil {
		t.Fatal(err)
	}
}

// ordersOf reach each way in which results are ordered.
var ordersOf = []string{
	"", " ORDER BY dc:title", " ORDER BY dc:title DESC", " ORDER BY card:note", " ORDER BY card:note DESC, card:count", " ORDER BY card:code, card:count DESC",
	" ORDER BY card:code DESC, card:count", " ORDER BY card:code, card:note", " ORDER BY card:shelf", " ORDER BY card:shelf DESC, card:note", " ORDER BY ecm:uuid",
	" ORDER BY ecm:uuid DESC", " ORDER BY card:share, card:note, ecm:uuid DESC", " ORDER BY card:done DESC, card:due DESC",
}

// TestPagesJoin: pages by cursor are together what one page has, in the same order, for each order and size of page.
func TestPagesJoin(t *testing.T) {
	w := deck(t, nil)
	view(t, w.Repo, func(tx *storage.Tx) error {
		for _, order := range ordersOf {
			src := "SELECT * FROM Card WHERE card:count >= 3" + order
			all, err := Query(tx, src, Options{})
			if err != nil {
				return err
			}
			for _, size := range []int{1, 7, 56, 57, 100} {
				page, err := Query(tx, src, Options{PageOptions: storage.PageOptions{Limit: size}})
				var got []string
				for n := 0; err == nil && page != nil && n < 100; n++ {
					if page.Offset != len(got) || page.Total != 57 || page.More {
						t.Errorf("%s: a page at %d begins at %d of %d", src, len(got), page.Offset, page.Total)
					}
					got = append(got, names(page)...)
					page, err = Next(tx, page)
				}
				if err != nil || !slices.Equal(got, names(all)) || len(got) != 57 {
					t.Errorf("%s by %d: %v\n%v\nwant\n%v", src, size, err, got, names(all))
				}
			}
		}
		return nil
	})
}

func names(p *storage.Page) (out []string) {
	for _, d := range p.Docs {
		out = append(out, d.Name())
	}
	return out
}

// TestCursorsOfOthers: a cursor that no page of such a query can have given is refused, or gives what comes behind such a position;
// it never fails otherwise.
func TestCursorsOfOthers(t *testing.T) {
	w := deck(t, nil)
	view(t, w.Repo, func(tx *storage.Tx) error {
		next := map[string]string{}
		for _, order := range ordersOf {
			page, err := Query(tx, "SELECT * FROM Card"+order, Options{PageOptions: storage.PageOptions{Limit: 9}})
			if err != nil {
				return err
			}
			next[order] = page.Next
		}
		next["no values"], next["a long id"] = (&cursor{key: make([]byte, 16)}).String(), (&cursor{key: make([]byte, 40)}).String()
		next["high"], next["path"] = (&cursor{key: []byte(strings.Repeat("\xff", 50))}).String(), (&cursor{access: "children", key: make([]byte, 20)}).String()
		refused := 0
		for _, order := range ordersOf {
			columns := len(selected(t, "SELECT * FROM Card"+order).Order)
			for from, after := range next {
				_, err := Query(tx, "SELECT * FROM Card"+order, Options{PageOptions: storage.PageOptions{Limit: 9, After: after}})
				if err != nil && (!fault.Is(err, fault.Invalid) || from == order) {
					t.Errorf("%q after %q: %v", order, from, err)
				}
				if err != nil {
					refused++
				}
				known := slices.Contains(ordersOf, from)
				other := known && columns != len(selected(t, "SELECT * FROM Card"+from).Order) && !strings.Contains(order+from, "uuid")
				if err == nil && (other || !known && from != "no values") {
					t.Errorf("%q goes on after %q", order, from)
				}
			}
		}
		if refused < 100 {
			t.Errorf("%d are refused", refused)
		}
		return nil
	})
}

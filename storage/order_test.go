package storage_test

import (
	"slices"
	"testing"

	"catena/storage"
	"catena/storage/search"
)

// TestOrder puts children that were made at once, without room between them, in another order.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "OrderedFolder", nil)
	w.update(w.System(), func(tx *storage.Tx) error {
		f, err := tx.Doc("/f")
		for _, name := range []string{"a", "b", "c", "d"} {
			if err == nil {
				_, err = tx.Create(f, "File", name, nil)
			}
		}
		return err
	})
	list := func() (names []string) {
		w.view(w.System(), func(tx *storage.Tx) error {
			f, err := tx.Doc("/f")
			if err != nil {
				return err
			}
			for d, err := range tx.EachChild(f) {
				if err != nil {
					return err
				}
				names = append(names, d.Name())
			}
			return nil
		})
		return names
	}
	want := []string{"a", "b", "c", "d"}
	for i := range 60 {
		moved, before := want[i%3+1], want[i%2]
		if moved == before {
			continue
		}
		w.update(w.System(), func(tx *storage.Tx) error {
			_, err := tx.OrderBefore(must(tx.Doc(storage.Ref("/f/"+moved)))(t), must(tx.Doc(storage.Ref("/f/"+before)))(t))
			return err
		})
		want = slices.DeleteFunc(want, func(s string) bool { return s == moved })
		want = slices.Insert(want, slices.Index(want, before), moved)
		if got := list(); !slices.Equal(got, want) {
			t.Fatalf("after %d: %v, want %v", i, got, want)
		}
	}
}

// TestOrderBetweenNeighbours: making room numbers the one that moves, too, and it is in one place afterwards.
func TestOrderBetweenNeighbours(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "OrderedFolder", nil)
	w.update(w.System(), func(tx *storage.Tx) error {
		f := must(tx.Doc("/f"))(t)
		a, b, c := must(tx.Create(f, "File", "a", nil))(t), must(tx.Create(f, "File", "b", nil))(t), must(tx.Create(f, "File", "c", nil))(t)
		must(tx.OrderBefore(c, b))(t)
		must(tx.OrderBefore(a, b))(t)
		return nil
	})
	w.view(w.System(), func(tx *storage.Tx) error {
		got := ""
		for d, err := range tx.EachChild(must(tx.Doc("/f"))(t)) {
			if err != nil {
				return err
			}
			got += d.Name()
		}
		if got != "cab" {
			t.Errorf("order %s, want cab", got)
		}
		return nil
	})
}

// TestPositionsAreNull: what a folder without an order holds has no position, whatever way a query finds it,
// until the folder gets the facet.
func TestPositionsAreNull(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "Folder", nil)
	w.update(w.System(), func(tx *storage.Tx) error {
		f, err := tx.Doc("/f")
		for _, name := range []string{"b", "c", "a"} {
			if err == nil {
				_, err = tx.Create(f, "File", name, storage.Props{"dc:title": name})
			}
		}
		return err
	})
	names := func(where string) (out string) {
		w.view(w.System(), func(tx *storage.Tx) error {
			page, err := search.Query(tx, "SELECT * FROM Document WHERE "+where, search.Options{})
			for _, d := range page.Docs {
				out += d.Name()
			}
			return err
		})
		return out
	}
	check := func(in, parent, want string) {
		t.Helper()
		if got := names(in + parent); got != want {
			t.Errorf("%s%s: got %q, want %q", in, parent, got, want)
		}
	}
	var parent string
	w.view(w.System(), func(tx *storage.Tx) error {
		parent = "ecm:parentId = '" + must(tx.Doc("/f"))(t).ID() + "'"
		return nil
	})
	check("ecm:pos IS NULL AND ", parent+" ORDER BY dc:title", "abc")
	check("ecm:pos IS NOT NULL AND ", parent, "")
	check("ecm:pos IS NULL AND ecm:path STARTSWITH '/f'", " ORDER BY dc:title", "abc")
	check("", parent+" ORDER BY ecm:pos DESC, dc:title", "abc")
	w.update(w.System(), func(tx *storage.Tx) error {
		f := must(tx.Doc("/f"))(t)
		if err := f.AddFacet("Orderable"); err != nil {
			return err
		}
		_, err := tx.Save(f, storage.SaveOptions{})
		return err
	})
	check("ecm:pos IS NULL AND ", parent, "")
	check("", parent+" ORDER BY ecm:pos, dc:title", "bca")
	check("ecm:path STARTSWITH '/f'", " ORDER BY ecm:pos DESC", "acb")
}

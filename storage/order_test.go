package storage_test

import (
	"slices"
	"testing"

	"catena/storage"
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

package storage_test

import (
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/relation"
)

func TestRelations(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/a", "/b", "/c"} {
		w.make(path, "File", nil)
	}
	w.grant("/c", "-Everyone:Everything")
	w.grant("/a", "ann:ReadWrite")
	related := func(tx *storage.Tx, path, predicate string, outgoing bool) string {
		docs := must(relation.Find(tx, must(tx.Doc(storage.Ref(path)))(t), predicate, outgoing))(t)
		var names []string
		for _, d := range docs {
			names = append(names, d.Name())
		}
		return strings.Join(names, " ")
	}
	w.update(w.System(), func(tx *storage.Tx) error {
		a, b, c := must(tx.Doc("/a"))(t), must(tx.Doc("/b"))(t), must(tx.Doc("/c"))(t)
		for _, r := range []struct {
			from *storage.Doc
			name string
			to   *storage.Doc
		}{{a, "cites", b}, {a, "cites", c}, {a, "cite", c}, {b, "answers", a}, {a, "answers", b}} {
			if err := relation.Add(tx, r.from, r.name, r.to); err != nil {
				return err
			}
		}
		wantKind(t, relation.Add(tx, a, "cites", b), fault.Exists, "has it to")
		wantKind(t, relation.Add(tx, a, "", b), fault.Invalid, "predicate")
		wantKind(t, relation.Add(tx, a, strings.Repeat("x", 501), b), fault.Limit, "501 bytes")
		for _, x := range []struct {
			path, predicate string
			outgoing        bool
			want            string
		}{
			{"/a", "cites", true, "b c"},
			{"/a", "cite", true, "c"},
			{"/a", "", true, "b c"},
			{"/a", "", false, "b"},
			{"/c", "", false, "a"},
			{"/c", "", true, ""},
		} {
			if got := related(tx, x.path, x.predicate, x.outgoing); got != x.want {
				t.Errorf("%s %q %t: %q, want %q", x.path, x.predicate, x.outgoing, got, x.want)
			}
		}
		return nil
	})
	w.sound()
	w.update(user("ann"), func(tx *storage.Tx) error {
		if got := related(tx, "/a", "cites", true); got != "b" {
			t.Errorf("ann sees %q", got)
		}
		all := tx.As(w.System())
		a, b, c := must(tx.Doc("/a"))(t), must(tx.Doc("/b"))(t), must(all.Doc("/c"))(t)
		wantKind(t, relation.Add(tx, a, "likes", c), fault.NotFound, c.ID())
		wantKind(t, relation.Add(tx.As(user("bob")), a, "likes", b), fault.Denied, "WriteProperties")
		if err := relation.Add(tx, b, "likes", a); err != nil {
			return err
		}
		if err := relation.Remove(tx, b, "likes", a); err != nil {
			return err
		}
		return relation.Remove(tx, b, "likes", a)
	})
	w.sound()
	w.update(w.System(), func(tx *storage.Tx) error {
		if err := tx.Delete(must(tx.Doc("/b"))(t)); err != nil {
			return err
		}
		if got := related(tx, "/a", "", true) + "|" + related(tx, "/a", "", false); got != "c|" {
			t.Errorf("after a removal: %q", got)
		}
		return tx.Delete(must(tx.Doc("/a"))(t))
	})
	if n := w.rows("l"); n != 0 {
		t.Errorf("%d rows of relations are left", n)
	}
	w.sound()
}

package storage_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/maintenance"
	"catena/storage/schema"
	"catena/storage/search"
)

// state describes a document in one line.
func state(d *storage.Doc) string {
	if d == nil {
		return "none"
	}
	s := d.Path() + " " + d.Title() + " " + d.VersionLabel()
	if d.IsCheckedOut() {
		s += " out"
	}
	return s
}

func wantState(t testing.TB, what string, d *storage.Doc, want string) {
	t.Helper()
	if got := state(d); got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func titled(tx *storage.Tx, d *storage.Doc, title string, o storage.SaveOptions) (*storage.Doc, error) {
	if err := d.Set("dc:title", title); err != nil {
		return nil, err
	}
	return tx.Save(d, o)
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (w *world) sound() {
	w.t.Helper()
	if problems, err := maintenance.Verify(w.t.Context(), w.Repo); err != nil || len(problems) > 0 {
		w.t.Errorf("verify: %v %v", problems, err)
	}
}

func TestCheckInAndOut(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "File", storage.Props{"dc:title": "one"})
	w.update(w.System(), func(tx *storage.Tx) error {
		d := must(tx.Doc("/f"))(t)
		wantState(t, "new", d, "/f one 0.0 out")
		v := must(tx.CheckIn(d, false, "first"))(t)
		wantState(t, "live", d, "/f one 0.1")
		wantState(t, "version", v, "f one 0.1")
		if !v.IsVersion() || !v.IsImmutable() || v.VersionableID() != d.ID() || v.ParentID() != "" {
			t.Errorf("version: version %t, immutable %t, of %s, parent %q", v.IsVersion(), v.IsImmutable(), v.VersionableID(), v.ParentID())
		}
		if again := must(tx.CheckIn(d, true, ""))(t); again != nil {
			t.Errorf("checked in twice: %s", state(again))
		}
		d = must(titled(tx, d, "two", storage.SaveOptions{}))(t)
		wantState(t, "saved", d, "/f two 0.1+ out")
		must(tx.CheckIn(d, true, ""))(t)
		d = must(tx.CheckOut(d))(t)
		wantState(t, "checked out", d, "/f two 1.0+ out")
		d = must(titled(tx, d, "three", storage.SaveOptions{Versioning: storage.MinorVersion}))(t)
		wantState(t, "saved with a version", d, "/f three 1.1")
		var got []string
		for _, v := range must(tx.Versions(d))(t) {
			latest, major, err := tx.IsLatest(v)
			got = append(got, fmt.Sprintf("%s %s %t %t %v", v.VersionLabel(), v.Title(), latest, major, err))
		}
		want := "0.1 one false false <nil>, 1.0 two false true <nil>, 1.1 three true false <nil>"
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("versions: %s, want %s", s, want)
		}
		wantState(t, "last", must(tx.LastVersion(d))(t), "f three 1.1")
		v = must(tx.LastVersion(d))(t)
		wantState(t, "live of it", must(tx.Live(v))(t), "/f three 1.1")
		_, err := titled(tx, v, "x", storage.SaveOptions{})
		wantKind(t, err, fault.Conflict, "a version cannot be changed")
		_, err = tx.CheckIn(must(tx.Root())(t), false, "")
		wantKind(t, err, fault.Conflict, "cannot have versions")
		return nil
	})
	w.sound()
}

func TestRestore(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "File", storage.Props{"dc:title": "one"})
	w.grant("/f", "ann:ReadWrite", "bob:Read")
	w.update(user("ann"), func(tx *storage.Tx) error {
		d := must(tx.Doc("/f"))(t)
		first := must(tx.CheckIn(d, false, ""))(t)
		d = must(titled(tx, d, "two", storage.SaveOptions{Versioning: storage.MinorVersion}))(t)
		must(titled(tx, d, "three", storage.SaveOptions{}))(t)
		live := must(tx.Restore(first, storage.RestoreOptions{Keep: true}))(t)
		wantState(t, "restored", live, "/f one 0.1")
		wantState(t, "kept", must(tx.LastVersion(live))(t), "f three 0.3")
		live = must(titled(tx, live, "four", storage.SaveOptions{}))(t)
		wantState(t, "changed", live, "/f four 0.3+ out")
		live = must(tx.Restore(first, storage.RestoreOptions{CheckOut: true}))(t)
		wantState(t, "restored and checked out", live, "/f one 0.3+ out")
		must(tx.CheckIn(live, false, ""))(t)
		wantState(t, "next", must(tx.LastVersion(live))(t), "f one 0.4")
		_, err := tx.Restore(live, storage.RestoreOptions{})
		wantKind(t, err, fault.Invalid, "not a version")
		_, err = tx.As(user("bob")).Restore(first, storage.RestoreOptions{})
		wantKind(t, err, fault.Denied, "WriteVersion")
		_, err = tx.As(user("bob")).CheckIn(live, true, "")
		wantKind(t, err, fault.Denied, "WriteProperties")
		return nil
	})
	w.grant("/f", "-Everyone:Everything")
	w.view(user("bob"), func(tx *storage.Tx) error {
		d := must(tx.As(w.System()).Doc("/f"))(t)
		_, err := tx.Versions(d)
		wantKind(t, err, fault.Denied, "ReadVersion")
		last := must(tx.As(w.System()).LastVersion(d))(t).Ref()
		_, err = tx.Doc(last)
		wantKind(t, err, fault.NotFound, string(last))
		p := must(search.Query(tx, "SELECT * FROM File WHERE ecm:isVersion = 1", search.Options{}))(t)
		if len(p.Docs) > 0 {
			t.Errorf("versions that may not be read are found: %d", len(p.Docs))
		}
		return nil
	})
	w.sound()
}

func TestAutomaticVersions(t *testing.T) {
	const off = "versioning:\n  none:\n    order: 1\n    types: [Note]\n    increment: none\n"
	for _, layer := range []string{"", off} {
		w := newWorld(t, func(c *storage.Config) {
			var err error
			if c.Types, err = schema.Load(schema.Defaults(), fstest.MapFS{"v.yaml": {Data: []byte(layer)}}); err != nil {
				t.Fatal(err)
			}
		})
		w.grant("/", "ann:Everything", "bob:Everything")
		made := func(as, path string, change func(tx *storage.Tx, d *storage.Doc) error) string {
			if err := w.on(user(as), path, change); err != nil {
				t.Error(err)
			}
			s := ""
			w.view(w.System(), func(tx *storage.Tx) error {
				d := must(tx.Doc(storage.Ref(path)))(t)
				s = state(d)
				for _, v := range must(tx.Versions(d))(t) {
					s += ", " + state(v)
				}
				return nil
			})
			return s
		}
		save := func(title string, o storage.SaveOptions) func(tx *storage.Tx, d *storage.Doc) error {
			return func(tx *storage.Tx, d *storage.Doc) error {
				_, err := titled(tx, d, title, o)
				return err
			}
		}
		w.make("/n", "Note", nil)
		note := []string{
			made("ann", "/n", save("a", storage.SaveOptions{})),
			made("bob", "/n", save("b", storage.SaveOptions{Versioning: storage.NoVersion})),
			made("bob", "/n", save("b", storage.SaveOptions{Versioning: storage.MajorVersion})),
		}
		want := []string{
			"/n a 0.2, n n 0.1, n a 0.2",
			"/n b 0.2+ out, n n 0.1, n a 0.2",
			"/n b 1.0, n n 0.1, n a 0.2, n b 1.0",
		}
		if layer != "" {
			want = []string{"/n a 0.0 out", "/n b 0.0 out", "/n b 1.0, n b 1.0"}
		}
		w.update(user("ann"), func(tx *storage.Tx) error { return mk(tx, "/f", "File", storage.Props{"dc:title": "one"}) })
		file := []string{
			made("ann", "/f", save("two", storage.SaveOptions{})),
			made("bob", "/f", save("three", storage.SaveOptions{})),
			made("bob", "/f", save("four", storage.SaveOptions{})),
			made("ann", "/f", save("five", storage.SaveOptions{Quiet: true})),
		}
		want = append(want, "/f two 0.0 out", "/f three 0.1+ out, f two 0.1", "/f four 0.1+ out, f two 0.1", "/f five 0.1+ out, f two 0.1")
		if got := append(note, file...); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("layer %q: got\n%s\nwant\n%s", layer, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		w.sound()
	}
}

func TestDeleteVersions(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "File", storage.Props{"dc:title": "one"})
	w.grant("/f", "ann:ReadWrite")
	w.update(w.System(), func(tx *storage.Tx) error {
		d := must(tx.Doc("/f"))(t)
		one := must(tx.CheckIn(d, false, ""))(t)
		d = must(titled(tx, d, "two", storage.SaveOptions{}))(t)
		two := must(tx.CheckIn(d, false, ""))(t)
		wantKind(t, tx.As(user("bob")).Delete(one), fault.Denied, "WriteVersion")
		wantKind(t, tx.As(user("ann")).Delete(two), fault.Conflict, "base version")
		if err := tx.As(user("ann")).Delete(one); err != nil {
			return err
		}
		if err := tx.Delete(two); err != nil {
			return err
		}
		wantState(t, "live", must(tx.Doc("/f"))(t), "/f two 0.2+ out")
		wantState(t, "last", must(tx.LastVersion(d))(t), "none")
		return nil
	})
	w.sound()
}

// TestVersionsGoWithTheirDocument removes a document with more versions than go at once.
func TestVersionsGoWithTheirDocument(t *testing.T) {
	w := newWorld(t)
	before := w.rows("t") + w.rows("x") + w.rows("D")
	w.make("/f", "Note", storage.Props{"dc:title": "0"})
	w.update(w.System(), func(tx *storage.Tx) error {
		d := must(tx.Doc("/f"))(t)
		for i := range 60 {
			d = must(titled(tx, d, fmt.Sprint("t", i), storage.SaveOptions{}))(t)
		}
		return tx.Delete(d)
	})
	w.view(w.System(), func(tx *storage.Tx) error {
		p := must(search.Query(tx, "SELECT * FROM Note", search.Options{}))(t)
		if len(p.Docs) > 0 {
			t.Errorf("%d versions of a removed document are found", len(p.Docs))
		}
		return nil
	})
	w.sound()
	w.now = w.now.Add(time.Hour)
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := w.rows("t") + w.rows("x") + w.rows("D"); after != before {
		t.Errorf("%d rows are left of a removed document", after-before)
	}
	w.sound()
}

package people_test

import (
	"context"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// TestHomes: everybody has one workspace, whatever the name, and it is nobody else's.
func TestHomes(t *testing.T) {
	w := storagetest.NewWorld(t)
	names := []string{
		"bob", "Bob", "bob ", " bob", "bob\u00a0", "bob%20", ".", "..", "%2E", "a/b", "a%2Fb", "a-b", "ミカエル", "e\u0301", "é", "bob.1772366400000",
		strings.Repeat("x", 255), strings.Repeat("x", 254) + "/", strings.Repeat("/", 255), strings.Repeat("/", 254) + "%", strings.Repeat("ä", 127) + "/", strings.Repeat("ä", 126) + "//",
	}
	seen := map[string]string{}
	for _, name := range names {
		add(w, people.User{Username: name})
		var id string
		for range 2 { // made, and found again
			w.Write(named(name), func(tx *storage.Tx) error {
				d, err := people.Home(tx, true)
				if err != nil {
					return err
				}
				if id != "" && d.ID() != id {
					t.Errorf("%.20q has two workspaces", name)
				}
				if id = d.ID(); d.Title() != name {
					t.Errorf("%.20q: the title is %.20q", name, d.Title())
				}
				return nil
			})
		}
		if other := seen[id]; other != "" {
			t.Errorf("%.20q has the workspace of %.20q", name, other)
		}
		seen[id] = name
		w.Read(named("somebody"), func(tx *storage.Tx) error {
			if _, err := tx.Doc(storage.Ref(id)); !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Denied) {
				t.Errorf("%.20q: others see it: %v", name, err)
			}
			if d, err := people.Home(tx, false); d != nil || err != nil {
				t.Errorf("somebody has %v, %v", d, err)
			}
			return nil
		})
	}
	for _, name := range names { // whoever gets the name next has another one
		w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, name) })
		add(w, people.User{Username: name})
		w.Write(named(name), func(tx *storage.Tx) error {
			if d, err := people.Home(tx, false); d != nil || err != nil {
				t.Errorf("%.20q, made anew, has %v, %v", name, d, err)
			}
			d, err := people.Home(tx, true)
			if err == nil && seen[d.ID()] != "" {
				t.Errorf("%.20q, made anew, has the workspace of %.20q", name, seen[d.ID()])
			}
			return err
		})
	}
	err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { _, err := people.Home(tx, true); return err })
	storagetest.WantKind(t, err, fault.Invalid, "the server itself")
}

// TestPassword: a password signs in by itself only, and not at all once its user is gone.
func TestPassword(t *testing.T) {
	w := storagetest.NewWorld(t)
	long := strings.Repeat("p", 200)
	for i, text := range []string{"a", "Ä\u0308", "\U0001F600", " spaces ", "a\x00b", long} {
		w.Write(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ann"}, text) })
		for other, want := range map[string]bool{text: true, text + "x": false, strings.ToUpper(text) + " ": false, "": false} {
			if _, err := credential.SignIn(context.Background(), w.Repo, "ann", other); want != (err == nil) {
				t.Errorf("%d: %.10q for %.10q: %v", i, other, text, err)
			}
		}
		w.Now = w.Now.AddDate(0, 0, 1) // wrong ones are forgotten
	}
	w.Write(w.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: "ann", Email: "kept"}, "")
	})
	if _, err := credential.SignIn(t.Context(), w.Repo, "ann", long); err != nil {
		t.Errorf("a change without a password: %v", err)
	}
	w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "ann") })
	add(w, people.User{Username: "ann"})
	if _, err := credential.SignIn(t.Context(), w.Repo, "ann", long); !fault.Is(err, fault.Denied) {
		t.Errorf("of the user of before: %v", err)
	}
}

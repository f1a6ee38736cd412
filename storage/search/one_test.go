package search

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"catena/storage"
)

// TestOne looks for the documents of two texts after each change, twice, so that the second time they are where they were
// found before.
func TestOne(t *testing.T) {
	w := deck(t, nil)
	set := func(name, text string) func(*storage.Tx) error {
		return func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref("/" + name))
			if err == nil {
				err = d.Set("card:shelf", text)
			}
			if err == nil {
				_, err = tx.Save(d, storage.SaveOptions{})
			}
			return err
		}
	}
	create := func(name, text string) func(*storage.Tx) error {
		return func(tx *storage.Tx) error {
			root, err := tx.Doc("/")
			if err == nil {
				_, err = tx.Create(root, "Card", name, storage.Props{"card:shelf": text})
			}
			return err
		}
	}
	on := func(name string, fn func(*storage.Tx, *storage.Doc) error) func(*storage.Tx) error {
		return func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref("/" + name))
			if err == nil {
				err = fn(tx, d)
			}
			return err
		}
	}
	expect := func(step, one, two string) {
		t.Helper()
		for range 2 {
			view(t, w.Repo, func(tx *storage.Tx) error {
				for text, want := range map[string]string{"one": one, "two": two} {
					d, err := One(tx, "card:shelf", text)
					if err != nil {
						return err
					}
					got := ""
					if d != nil {
						got = d.Name()
					}
					if got != want {
						t.Errorf("%s: %q is %q, want %q", step, text, got, want)
					}
				}
				return nil
			})
		}
	}
	expect("at first", "", "")
	for _, step := range []struct {
		name     string
		do       []func(*storage.Tx) error
		one, two string
	}{
		{"created", []func(*storage.Tx) error{create("a", "one"), create("b", "two")}, "a", "b"},
		{"exchanged", []func(*storage.Tx) error{set("a", "two"), set("b", "one")}, "b", "a"},
		{"with versions", []func(*storage.Tx) error{on("a", func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.CheckIn(d, false, "")
			return err
		})}, "b", "a"},
		{"moved on", []func(*storage.Tx) error{set("b", "three"), create("c", "one")}, "c", "a"},
		{"removed", []func(*storage.Tx) error{on("a", (*storage.Tx).Delete)}, "c", ""},
		{"created again", []func(*storage.Tx) error{create("a", "two")}, "c", "a"},
	} {
		for _, do := range step.do {
			write(t, w.Repo, do)
		}
		expect(step.name, step.one, step.two)
	}
	// What a transaction finds that then fails is not there for others.
	failed := errors.New("failed")
	err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		if err := create("d", "four")(tx); err != nil {
			return err
		}
		if d, err := One(tx, "card:shelf", "four"); err != nil || d == nil || d.Name() != "d" {
			t.Errorf("within its transaction: %v, %v", d, err)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	view(t, w.Repo, func(tx *storage.Tx) error {
		d, err := One(tx, "card:shelf", "four")
		if d != nil {
			t.Errorf("found what was never committed: %s", d.Name())
		}
		return err
	})
	expect("before others look", "c", "a")
	err = w.View(t.Context(), &storage.Principal{Name: "ann"}, func(tx *storage.Tx) error {
		d, err := One(tx, "card:shelf", "one")
		if d != nil {
			t.Errorf("found without the right to read: %s", d.Name())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	expect("after others looked", "c", "a")
}

// TestFinds: what is asked for stays, and what is not makes room.
func TestFinds(t *testing.T) {
	var f finds
	of := func(i int) spot { return spot{"key", fmt.Sprint(i)} }
	for i := range 5 * mostFound {
		f.put(of(i), fmt.Sprint("id", i))
		if id := f.get(of(0)); id != "id0" {
			t.Fatalf("after %d: the one that is asked for is %q", i, id)
		}
		if n := len(f.now) + len(f.before); n > 2*mostFound {
			t.Fatalf("after %d: %d are kept", i, n)
		}
	}
	last := 5*mostFound - 1
	if id := f.get(of(last)); id != fmt.Sprint("id", last) {
		t.Errorf("the last one is %q", id)
	}
	if id := f.get(of(1)); id != "" {
		t.Errorf("one of long ago is still kept: %q", id)
	}
	if id := f.get(spot{"other", "0"}); id != "" {
		t.Errorf("another property has %q", id)
	}
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range mostFound {
				f.put(of(i), fmt.Sprint("id", i))
				if id := f.get(of(i + n)); id != "" && id != fmt.Sprint("id", i+n) {
					t.Errorf("%d is %q", i+n, id)
				}
			}
		})
	}
	wg.Wait()
}

package storage_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/badger"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
)

var errRefused = errors.New("refused")

// child makes a document in /desk and returns its name.
func child(ctx context.Context, r *storage.Repo, name string) (got string, err error) {
	err = r.Update(ctx, r.System(), func(tx *storage.Tx) error {
		desk, err := tx.Doc("/desk")
		if err != nil {
			return err
		}
		d, err := tx.Create(desk, "File", name, nil)
		if err == nil {
			got = d.Name()
		}
		return err
	})
	return got, err
}

// TestEqualNames: writers that give documents of one folder the same names at the same time never conflict.
func TestEqualNames(t *testing.T) {
	const writers, rounds = 16, 30
	for name, open := range map[string]func(t *testing.T) kv.Store{
		"memory": func(*testing.T) kv.Store { return memory.New() },
		"badger": func(t *testing.T) kv.Store {
			s, err := badger.Open(t.TempDir(), badger.Options{Durability: badger.Relaxed})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			var again atomic.Int64
			db := kv.New(open(t), kv.Options{Observe: func(s kv.Stats) { again.Add(int64(s.Attempts - 1)) }})
			w := newWorld(t, func(c *storage.Config) { c.DB, c.Clock, c.NewID = db, time.Now, nil })
			t.Cleanup(func() { _ = db.Close() })
			w.make("/desk", "Folder", nil)
			again.Store(0)
			var (
				wg    sync.WaitGroup
				mu    sync.Mutex
				names = map[string]bool{}
				start = make(chan struct{})
			)
			for range writers {
				wg.Go(func() {
					<-start
					for i := range rounds {
						for _, name := range []string{"", fmt.Sprint("report ", i)} {
							got, err := child(t.Context(), w.Repo, name)
							if err != nil {
								t.Error(err)
							}
							mu.Lock()
							names[got] = true
							mu.Unlock()
						}
					}
				})
			}
			close(start)
			wg.Wait()
			if n := again.Load(); n > 0 {
				t.Errorf("%d attempts lost their race", n)
			}
			if len(names) != 2*writers*rounds {
				t.Errorf("%d names for %d documents", len(names), 2*writers*rounds)
			}
			form := regexp.MustCompile(`^(Untitled|report \d+)(\.\d{13})?$`)
			for name := range names {
				if !form.MatchString(name) {
					t.Errorf("name %q", name)
				}
			}
		})
	}
}

// TestMissingFolderIsMadeOnce: of two transactions that make a folder because it is missing, one finds that of the other.
func TestMissingFolderIsMadeOnce(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.NewID = nil })
	w.make("/desk", "Folder", nil)
	file := func(name string, between func()) {
		err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
			desk, err := tx.Doc("/desk")
			if err != nil {
				return err
			}
			box, err := tx.Child(desk, "box")
			if fault.Is(err, fault.NotFound) {
				box, err = tx.Create(desk, "Folder", "box", nil)
			}
			if err != nil {
				return err
			}
			_, err = tx.Create(box, "File", name, nil)
			between()
			between = func() {}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	file("a", func() { file("b", func() {}) })
	w.view(w.System(), func(tx *storage.Tx) error {
		for _, path := range []storage.Ref{"/desk/box/a", "/desk/box/b"} {
			if _, err := tx.Doc(path); err != nil {
				t.Error(err)
			}
		}
		desk, err := tx.Doc("/desk")
		if err != nil {
			return err
		}
		for child, err := range tx.EachChild(desk) {
			if err != nil || child.Name() != "box" {
				t.Errorf("%v %v", child, err)
			}
		}
		return nil
	})
}

// TestNameIsFreeAgain: a name that was given back is taken as it is.
func TestNameIsFreeAgain(t *testing.T) {
	w := newWorld(t)
	w.make("/desk", "Folder", nil)
	ms := fmt.Sprint(w.now.UnixMilli())
	remove := func(name string) {
		w.update(w.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref("/desk/" + name))
			if err != nil {
				return err
			}
			return tx.Delete(d)
		})
	}
	create := func(want string) {
		t.Helper()
		if got, err := child(t.Context(), w.Repo, "a"); err != nil || got != want {
			t.Errorf("got %q %v, want %q", got, err, want)
		}
	}
	create("a")
	remove("a")
	create("a")
	create("a." + ms)
	remove("a")
	err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		desk, err := tx.Doc("/desk")
		if err != nil {
			return err
		}
		if _, err := tx.Create(desk, "File", "a", nil); err != nil {
			return err
		}
		if got, err := child(t.Context(), w.Repo, "a"); err != nil || got != fmt.Sprintf("a.%d", w.now.UnixMilli()+1) {
			t.Errorf("while another transaction makes it: got %q %v", got, err)
		}
		return errRefused
	})
	if !errors.Is(err, errRefused) {
		t.Error(err)
	}
	create("a")
}

// TestSuffixes: a suffix that is taken, as it may be after the clock was set back, is made longer, and a copy gets
// a suffix of its own instead of another one behind it.
func TestSuffixes(t *testing.T) {
	w := newWorld(t)
	w.make("/desk", "Folder", nil)
	w.make("/box", "Folder", nil)
	ms := fmt.Sprint(w.now.UnixMilli())
	for _, name := range []string{"a", "a." + ms} {
		w.make("/desk/"+name, "File", nil)
	}
	long, err := child(t.Context(), w.Repo, "a")
	if err != nil || !regexp.MustCompile(`^a\.\d{19}$`).MatchString(long) {
		t.Errorf("got %q %v", long, err)
	}
	w.update(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref("/desk/" + long))
		if err != nil {
			return err
		}
		box, err := tx.Doc("/box")
		if err != nil {
			return err
		}
		for _, want := range []string{long, "a." + ms} {
			got, err := tx.Copy(d, box, "")
			if err != nil {
				return err
			}
			if got.Name() != want {
				t.Errorf("copy: got %s, want %s", got.Name(), want)
			}
		}
		return nil
	})
}

// TestNameOf makes names of texts that are longer than names may be: whole characters, and the extension stays.
func TestNameOf(t *testing.T) {
	r := newWorld(t).Repo
	for text, want := range map[string]string{
		"short.txt":                        "short.txt",
		strings.Repeat("a", 260) + ".txt":  strings.Repeat("a", 251) + ".txt",
		strings.Repeat("写", 100) + ".docx": strings.Repeat("写", 83) + ".docx",
		"a." + strings.Repeat("b", 300):    "a." + strings.Repeat("b", 253),
		strings.Repeat("é", 200):           strings.Repeat("é", 127),
	} {
		if got := r.NameOf(text); got != want {
			t.Errorf("%.20s…: %q, want %q", text, got, want)
		}
	}
}

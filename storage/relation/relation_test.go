package relation_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/relation"
	"catena/storage/storagetest"
)

// files makes so many documents and returns their paths.
func files(t *testing.T, r *storage.Repo, n int) (paths []string) {
	t.Helper()
	err := r.Update(t.Context(), r.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		for i := 0; err == nil && i < n; i++ {
			name := fmt.Sprintf("d%d", i)
			paths = append(paths, "/"+name)
			_, err = tx.Create(root, "File", name, nil)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// between has something done with two documents.
func between(t *testing.T, r *storage.Repo, from, to string, do func(tx *storage.Tx, from, to *storage.Doc) error) error {
	t.Helper()
	return r.Update(t.Context(), r.System(), func(tx *storage.Tx) error {
		a, err := tx.Doc(storage.Ref(from))
		b, err2 := tx.Doc(storage.Ref(to))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return do(tx, a, b)
	})
}

func related(t *testing.T, r *storage.Repo, path, predicate string, outgoing bool) (names []string) {
	t.Helper()
	err := between(t, r, path, path, func(tx *storage.Tx, d, _ *storage.Doc) error {
		docs, err := relation.Find(tx, d, predicate, outgoing)
		for _, d := range docs {
			names = append(names, d.Path())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// TestPredicates: a predicate is any text, and another text is another predicate.
func TestPredicates(t *testing.T) {
	w := storagetest.NewWorld(t)
	paths := files(t, w.Repo, 2)
	predicates := []string{"a", "A", "ab", "a\x00", "a\x00b", "\x00", "ä", "a\u0308", "http://purl.org/dc/terms/References", " ", "\U0001F600", "\xff", strings.Repeat("x", 500)}
	for i, p := range predicates {
		add := func() error {
			return between(t, w.Repo, paths[0], paths[1], func(tx *storage.Tx, a, b *storage.Doc) error { return relation.Add(tx, a, p, b) })
		}
		if got := related(t, w.Repo, paths[0], p, true); len(got) != 0 {
			t.Errorf("%.10q before: %v", p, got)
		}
		if err := add(); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		storagetest.WantKind(t, add(), fault.Exists, "already")
		if a, b := related(t, w.Repo, paths[0], p, true), related(t, w.Repo, paths[1], p, false); len(a) != 1 || len(b) != 1 || len(related(t, w.Repo, paths[0], p, false)) != 0 {
			t.Errorf("%.10q: %v, %v", p, a, b)
		}
	}
	if got := related(t, w.Repo, paths[0], "", true); !slices.Equal(got, paths[1:]) {
		t.Errorf("all predicates: %v", got)
	}
	for _, c := range []struct {
		predicate string
		kind      fault.Kind
	}{{"", fault.Invalid}, {strings.Repeat("ä", 251), fault.Limit}} {
		for what, do := range map[string]func(*storage.Tx, *storage.Doc, string, *storage.Doc) error{"add": relation.Add, "remove": relation.Remove} {
			err := between(t, w.Repo, paths[0], paths[1], func(tx *storage.Tx, a, b *storage.Doc) error { return do(tx, a, c.predicate, b) })
			var e *fault.Error
			if !fault.Is(err, c.kind) || !errors.As(err, &e) || e.Field != "predicate" {
				t.Errorf("%s %.10q: %v", what, c.predicate, err)
			}
		}
	}
}

// TestUnsaved: a document that is not there yet has no relations.
func TestUnsaved(t *testing.T) {
	w := storagetest.NewWorld(t)
	paths := files(t, w.Repo, 1)
	err := between(t, w.Repo, paths[0], paths[0], func(tx *storage.Tx, a, _ *storage.Doc) error {
		for _, do := range []func(*storage.Tx, *storage.Doc, string, *storage.Doc) error{relation.Add, relation.Remove} {
			storagetest.WantKind(t, do(tx, a, "p", nil), fault.Invalid, "does not exist yet")
			storagetest.WantKind(t, do(tx, nil, "p", a), fault.Invalid, "does not exist yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = w.View(t.Context(), w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(paths[0]))
		if err != nil {
			return err
		}
		return relation.Add(tx, d, "p", d)
	})
	storagetest.WantKind(t, err, fault.Invalid, "read-only")
}

// TestLimit: a document is related to as many others as are allowed, from either side, in as many ways as one likes.
func TestLimit(t *testing.T) {
	r := storagetest.Open(t, func(c *storage.Config) { c.Bounds = c.Bounds.With(relation.Limits{Documents: 3}) })
	paths := files(t, r, 6)
	for _, c := range []struct {
		from, to  int
		predicate string
		limit     bool
	}{
		{0, 1, "p", false},
		{0, 2, "p", false},
		{0, 0, "p", false}, // itself is one
		{0, 3, "p", true},
		{0, 3, "q", true},
		{0, 1, "q", false},
		{0, 0, "q", false},
		{1, 5, "p", false},
		{2, 5, "p", false},
		{3, 5, "p", false},
		{4, 5, "p", true},
		{3, 5, "q", false},
		{5, 4, "p", false},
	} {
		err := between(t, r, paths[c.from], paths[c.to], func(tx *storage.Tx, a, b *storage.Doc) error { return relation.Add(tx, a, c.predicate, b) })
		if c.limit != fault.Is(err, fault.Limit) || !c.limit && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	err := between(t, r, paths[0], paths[2], func(tx *storage.Tx, a, b *storage.Doc) error {
		return errors.Join(relation.Remove(tx, a, "p", b), tx.Delete(b))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := between(t, r, paths[0], paths[3], func(tx *storage.Tx, a, b *storage.Doc) error { return relation.Add(tx, a, "p", b) }); err != nil {
		t.Errorf("there is room again: %v", err)
	}
}

// TestModel compares random calls with a set of statements, seen from either side, and ends with no row left.
func TestModel(t *testing.T) {
	w := storagetest.NewWorld(t)
	paths := files(t, w.Repo, 4)
	type statement struct{ from, predicate, to string }
	model := map[statement]bool{}
	rnd := rand.New(rand.NewPCG(5, 5))
	for n := range 200 {
		s := statement{paths[rnd.IntN(len(paths))], []string{"p", "pp", "q"}[rnd.IntN(3)], paths[rnd.IntN(len(paths))]}
		err := between(t, w.Repo, s.from, s.to, func(tx *storage.Tx, a, b *storage.Doc) error {
			if n%2 == 0 {
				return relation.Add(tx, a, s.predicate, b)
			}
			return relation.Remove(tx, a, s.predicate, b)
		})
		if n%2 == 0 && model[s] != fault.Is(err, fault.Exists) || n%2 == 1 && err != nil {
			t.Fatalf("%+v, there %v: %v", s, model[s], err)
		}
		model[s] = n%2 == 0
		if n%40 == 39 { // a document goes
			gone := paths[len(paths)-1]
			if err := between(t, w.Repo, gone, gone, func(tx *storage.Tx, d, _ *storage.Doc) error { return tx.Delete(d) }); err != nil {
				t.Fatal(err)
			}
			paths = paths[:len(paths)-1]
			for s := range model {
				if s.from == gone || s.to == gone {
					delete(model, s)
				}
			}
			if len(paths) == 1 {
				break
			}
		}
		for _, path := range paths {
			for _, predicate := range []string{"", "p", "q"} {
				var to, from []string
				for s, there := range model {
					if there && (predicate == "" || s.predicate == predicate) {
						if s.from == path {
							to = append(to, s.to)
						}
						if s.to == path {
							from = append(from, s.from)
						}
					}
				}
				to, from = set(to), set(from)
				if got := related(t, w.Repo, path, predicate, true); !slices.Equal(got, to) {
					t.Fatalf("%s %q to %v, want %v", path, predicate, got, to)
				}
				if got := related(t, w.Repo, path, predicate, false); !slices.Equal(got, from) {
					t.Fatalf("%s %q from %v, want %v", path, predicate, got, from)
				}
			}
		}
	}
}

func set(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

package storage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"catena/storage"
)

// TestOutside asks for things that are slow to find out, in a transaction that loses a race and whose parts may fail: each is
// found out once, while no transaction is open as long as these are few, and the outcome is that of finding out at once.
func TestOutside(t *testing.T) {
	errMeant := errors.New("meant")
	for _, c := range []struct {
		name      string
		inquiries int
		fails     int // number of the one that fails, from 1
		tolerant  bool
		within    int // how many are found out within the transaction
	}{
		{name: "none"},
		{name: "one", inquiries: 1},
		{name: "several", inquiries: 5},
		{name: "one fails", inquiries: 5, fails: 3},
		{name: "one fails, which is tolerated", inquiries: 5, fails: 3, tolerant: true},
		{name: "very many", inquiries: 40, within: 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.make("/race", "Folder", nil)
			open, attempts, within, again := false, 0, 0, 0
			found := map[int]int{}
			ask := func(x *storage.Tx, i int) (any, error) {
				return storage.Outside(x, i, func(context.Context) (any, error) {
					if found[i]++; open {
						within++
					}
					if i == c.fails {
						return nil, errMeant
					}
					return fmt.Sprint("value ", i), nil
				})
			}
			raced := false
			err := w.Update(t.Context(), w.System(), func(x *storage.Tx) error {
				open = true
				defer func() { open = false }()
				if attempts++; storage.Again(x) {
					again++
				}
				d, err := x.Doc("/race")
				if err != nil {
					return err
				}
				got := ""
				for i := 1; i <= c.inquiries; i++ {
					err := x.Nest(func() error {
						v, err := ask(x, i)
						if v != nil {
							got += v.(string) + "\n"
						}
						return err
					})
					if errors.Is(err, storage.ErrAgain) != storage.Abandoned(x) {
						t.Errorf("inquiry %d: %v, abandoned: %v", i, err, storage.Abandoned(x))
					}
					if err != nil && !c.tolerant {
						return err
					}
				}
				if !raced && !storage.Abandoned(x) {
					raced = true
					done := make(chan error)
					go func() {
						done <- w.Update(context.Background(), w.System(), func(x *storage.Tx) error {
							d, err := x.Doc("/race")
							if err == nil {
								err = d.Set("dc:title", "other")
							}
							if err == nil {
								_, err = x.Save(d, storage.SaveOptions{})
							}
							return err
						})
					}()
					if err := <-done; err != nil {
						return err
					}
				}
				if err := d.Set("dc:description", got); err != nil {
					return err
				}
				_, err = x.Save(d, storage.SaveOptions{})
				return err
			})
			if want := c.fails > 0 && !c.tolerant; errors.Is(err, errMeant) != want || !want && err != nil {
				t.Fatal(err)
			}
			want := ""
			for i := 1; i <= c.inquiries; i++ {
				asked := c.fails == 0 || c.tolerant || i <= c.fails
				if asked != (found[i] == 1) {
					t.Errorf("inquiry %d was made %d times", i, found[i])
				}
				if i != c.fails {
					want += fmt.Sprint("value ", i, "\n")
				}
			}
			if within != c.within {
				t.Errorf("%d were found out within the transaction, want %d", within, c.within)
			}
			if abandoned := min(len(found), 32); again != abandoned || err == nil && attempts != abandoned+2 {
				t.Errorf("%d attempts, %d of them after one that was abandoned, of %d inquiries", attempts, again, len(found))
			}
			if err != nil {
				return
			}
			w.update(w.System(), func(x *storage.Tx) error {
				d, err := x.Doc("/race")
				if err != nil {
					return err
				}
				if v, _ := d.Get("dc:description"); v != want && (v != nil || want != "") {
					t.Errorf("stored: %q, want %q", v, want)
				}
				return nil
			})
		})
	}
}

// TestOutsideEnds: where nothing can be written an inquiry is made at once, and one that the end of its caller has broken off
// ends the transaction.
func TestOutsideEnds(t *testing.T) {
	w := newWorld(t)
	err := w.View(t.Context(), w.System(), func(x *storage.Tx) error {
		v, err := storage.Outside(x, "a", func(context.Context) (any, error) { return 1, nil })
		if v != 1 || storage.Abandoned(x) || storage.Again(x) {
			t.Errorf("reading: %v, %v", v, err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	err = w.Update(ctx, w.System(), func(x *storage.Tx) error {
		attempts++
		_, err := storage.Outside(x, "a", func(ctx context.Context) (any, error) {
			cancel()
			return nil, ctx.Err()
		})
		return err
	})
	if !errors.Is(err, context.Canceled) || attempts != 1 {
		t.Errorf("%v after %d attempts", err, attempts)
	}
}

// TestCanceledInquiry: that a caller gave up is not what later transactions find out.
func TestCanceledInquiry(t *testing.T) {
	w := newWorld(t)
	for _, way := range []func(*storage.Tx, any, func(context.Context) (any, error)) (any, error){storage.Once, storage.Outside} {
		shared := context.WithValue(t.Context(), storage.FindingsKey{}, new(storage.Findings))
		ask := func(ctx context.Context, find func(context.Context) (any, error)) error {
			return w.Update(ctx, w.System(), func(x *storage.Tx) error {
				_, err := way(x, "a", find)
				return err
			})
		}
		gone, cancel := context.WithCancel(shared)
		if err := ask(gone, func(ctx context.Context) (any, error) { cancel(); return nil, ctx.Err() }); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
		if err := ask(shared, func(context.Context) (any, error) { return 1, nil }); err != nil {
			t.Errorf("asked again: %v", err)
		}
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

// invention is a call as the property test makes it up: what it writes itself, and what it has run apart.
type invention struct {
	steps []move
	fails bool
}

type move struct {
	write string     // a document that the call makes itself, or
	items []string   // those of a part, one in each transaction
	fails int        // the item whose transaction fails; -1: none
	soft  bool       // that is tolerated
	inner *invention // what the first transaction has run apart by itself
}

// invent makes up a program. Names are never used twice.
func invent(rnd *rand.Rand, next func() string, depth int) *invention {
	p := &invention{fails: rnd.IntN(3) == 0}
	for range 1 + rnd.IntN(4) {
		if rnd.IntN(2) == 0 {
			p.steps = append(p.steps, move{write: next()})
			continue
		}
		s := move{fails: -1, soft: rnd.IntN(2) == 0}
		for range 1 + rnd.IntN(3) {
			s.items = append(s.items, next())
		}
		if rnd.IntN(3) == 0 {
			s.fails = rnd.IntN(len(s.items))
		}
		if depth > 0 && rnd.IntN(3) == 0 {
			s.inner = invent(rnd, next, depth-1)
		}
		p.steps = append(p.steps, s)
	}
	return p
}

// committed adds what is there after the program whatever becomes of it, and returns what is there if the transaction
// that it runs in is committed.
func (p *invention) committed(all *[]string) (own []string, failed bool) {
	for _, s := range p.steps {
		if s.write != "" {
			own = append(own, s.write)
			continue
		}
		for i, item := range s.items {
			var inner []string
			bad := false
			if i == 0 && s.inner != nil {
				inner, bad = s.inner.committed(all)
			}
			if !bad && i != s.fails {
				*all = append(append(*all, item), inner...)
			} else if !s.soft {
				return own, true
			}
		}
	}
	return own, p.fails
}

var errMeant = errors.New("meant to fail")

// run is the program as an operation would carry it out. Between the steps other calls change what it has read.
func (p *invention) run(c *Ctx, disturb func()) error {
	var n struct{ N int }
	if _, err := c.Tx.Table("test").Get("n", &n); err != nil {
		return err
	}
	for _, s := range p.steps {
		disturb()
		if s.write != "" {
			if err := makeFile(c, s.write); err != nil {
				return err
			}
			continue
		}
		items := List(s.items)
		outs, err := c.Apart(Part{
			Op: "Test.Apart", Items: items, Params: map[string]any{"seen": n.N},
			Run: func(c *Ctx, _, item any) (any, error) {
				if err := makeFile(c, item.(string)); err != nil {
					return nil, err
				}
				disturb()
				if item == s.items[0] && s.inner != nil {
					if err := s.inner.run(c, disturb); err != nil {
						return nil, err
					}
				}
				if slices.Index(s.items, item.(string)) == s.fails {
					return nil, errMeant
				}
				return item, nil
			},
			Tolerate: func(*Ctx, error) bool { return s.soft },
		})
		if err != nil {
			return err
		}
		if len(outs) != len(items) {
			return fault.Internal.Errorf("%d results of %d", len(outs), len(items))
		}
		for i, out := range outs {
			if out != nil && out != items[i] {
				return fault.Internal.Errorf("%v in place of %v", out, items[i])
			}
		}
	}
	if n.N++; p.fails {
		return errMeant
	}
	return c.Tx.Table("test").Put("own", n)
}

func makeFile(c *Ctx, name string) error {
	root, err := c.Tx.Root()
	if err == nil {
		_, err = c.Tx.Create(root, "File", name, nil)
	}
	return err
}

// TestApart is about random calls whose parts have transactions of their own, while others change what the calls read:
// each part is there exactly once, whatever became of the call, and what the call itself did is there if it went well.
func TestApart(t *testing.T) {
	e := testEngine(t)
	ctx := context.Background()
	number := 0
	next := func() string { number++; return fmt.Sprintf("d%04d", number) }
	var want []string
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		p := invent(rnd, next, 2)
		left := 3
		disturb := func() {
			if left == 0 || rnd.IntN(3) > 0 {
				return
			}
			left--
			done := make(chan error)
			go func() {
				done <- e.Repo().Update(ctx, e.System(), func(tx *storage.Tx) error {
					return tx.Table("test").Put("n", struct{ N int }{left})
				})
			}()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		res, err := e.RunFunc(ctx, Writes, func(c *Ctx) (any, error) { return nil, p.run(c, disturb) }, Call{Op: "Test.Program", As: e.System(), Trace: true})
		var all []string
		own, failed := p.committed(&all)
		if failed != errors.Is(err, errMeant) || !failed && err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !failed {
			all = append(all, own...)
		}
		if err == nil && res.Attempts > 1+3 {
			t.Errorf("seed %d: %d attempts, restarts are not among them", seed, res.Attempts)
		}
		want = append(want, all...)
	}
	slices.Sort(want)
	if got := children(t, e); !slices.Equal(got, want) {
		t.Errorf("got %v,\nwant %v", got, want)
	}
	if len(want) < 200 {
		t.Errorf("%d documents are too few to show anything", len(want))
	}
}

func children(t *testing.T, e *Engine) (names []string) {
	t.Helper()
	err := e.Repo().View(t.Context(), e.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		page, err := tx.Children(root, storage.PageOptions{Limit: 1000})
		if err != nil {
			return err
		}
		for _, d := range page.Docs {
			if strings.HasPrefix(d.Name(), "d") && d.Name() != "default-domain" {
				names = append(names, d.Name())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// apartly has Test.Create run apart.
func apartly(c *Ctx, in *storage.Doc, name string) (any, error) {
	outs, err := c.Apart(Part{Op: "Test.Create", Input: in, Params: map[string]any{"name": name}, Run: func(c *Ctx, in, _ any) (any, error) {
		return c.Call("Test.Create", in, map[string]any{"name": name})
	}})
	if err != nil {
		return nil, err
	}
	return outs[0], nil
}

// TestApartSees is about what a new transaction sees of its call, and the call of it.
func TestApartSees(t *testing.T) {
	e := testEngine(t)
	var after []string
	tests := []struct {
		name string
		dry  bool
		f    func(c *Ctx, root *storage.Doc) (any, error)
		want string
	}{
		{"the call sees what is committed", false, func(c *Ctx, root *storage.Doc) (any, error) {
			made, err := apartly(c, root, "d1")
			if err != nil {
				return nil, err
			}
			d, err := c.Tx.Doc("/d1")
			if err == nil && d.ID() != made.(*storage.Doc).ID() {
				return "another", nil
			}
			return d, err
		}, "/d1"},
		{"it does not see what the call made", false, func(c *Ctx, root *storage.Doc) (any, error) {
			d, err := c.Tx.Create(root, "Folder", "d2", nil)
			if err != nil {
				return nil, err
			}
			return apartly(c, d, "d3")
		}, "notfound: document /d2: is not there in a new transaction, which does not see what the call around it has made so far"},
		{"parameters may depend on what it changes", false, func(c *Ctx, root *storage.Doc) (any, error) {
			page, err := c.Tx.Children(root, storage.PageOptions{Limit: 100})
			if err != nil {
				return nil, err
			}
			return apartly(c, root, fmt.Sprintf("d4-%d", len(page.Docs)))
		}, "/d4-2"},
		{"what is done after its commit is done although the call fails", false, func(c *Ctx, _ *storage.Doc) (any, error) {
			c.After(func(context.Context) error { after = append(after, "call"); return nil })
			_, err := c.Apart(Part{Op: "x", Run: func(c *Ctx, _, _ any) (any, error) {
				c.After(func(context.Context) error { after = append(after, "part"); return nil })
				return nil, nil
			}})
			if err == nil {
				err = errMeant
			}
			return nil, err
		}, "internal: meant to fail"},
		{"nothing is left of a dry run", true, func(c *Ctx, root *storage.Doc) (any, error) {
			_, err := apartly(c, root, "d5")
			if err != nil {
				return nil, err
			}
			return c.Tx.Doc("/d5")
		}, "/d5"},
		{"a failure that is handled is one of its own", false, func(c *Ctx, root *storage.Doc) (any, error) {
			err := c.Nest(func() error {
				_, err := c.Apart(Part{Op: "x", Run: func(c *Ctx, _, _ any) (any, error) { panic("a bug") }})
				return err
			})
			if passing(err) {
				return nil, err
			}
			return fault.Of(err).String(), nil
		}, "internal"},
		{"variables that it sets stay", false, func(c *Ctx, root *storage.Doc) (any, error) {
			c.SetVar("gone", 1)
			_, err := c.Apart(Part{Op: "x", Input: root, Run: func(c *Ctx, _, _ any) (any, error) {
				delete(c.Vars, "gone")
				c.SetVar("left", "here")
				return nil, nil
			}})
			return fmt.Sprint(c.Vars), err
		}, "map[left:here]"},
		{"but not in a copy", false, func(c *Ctx, root *storage.Doc) (any, error) {
			_, err := c.Apart(Part{Op: "x", Isolate: true, Run: func(c *Ctx, _, _ any) (any, error) {
				c.SetVar("left", "here")
				return nil, nil
			}})
			return fmt.Sprint(c.Vars), err
		}, "map[]"},
		{"a chain may end in it", false, func(c *Ctx, root *storage.Doc) (any, error) {
			_, err := c.Apart(Part{Op: "x", Run: func(c *Ctx, _, _ any) (any, error) { return nil, c.Exit("over", false) }})
			return nil, err
		}, "over"},
		{"its time may be over before that of the call", false, func(c *Ctx, root *storage.Doc) (any, error) {
			outs, err := c.Apart(Part{Op: "x", Timeout: time.Millisecond, Run: func(c *Ctx, _, _ any) (any, error) {
				<-c.Done()
				return nil, c.Err()
			}, Tolerate: func(c *Ctx, _ error) bool { return c.Err() == nil }})
			return fmt.Sprint(outs), err
		}, "[<nil>]"},
	}
	for _, tt := range tests {
		res, err := e.RunFunc(t.Context(), Writes, func(c *Ctx) (any, error) {
			root, err := c.Tx.Root()
			if err != nil {
				return nil, err
			}
			return tt.f(c, root)
		}, Call{Op: "Test", As: e.System(), DryRun: tt.dry})
		var got string
		if err != nil {
			_, cause := root(err)
			got = fault.Of(err).String() + ": " + cause.Error()
		} else {
			got = show(res.Value)
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := fmt.Sprint(children(t, e), after); got != "[d1 d4-2] [part]" {
		t.Errorf("left: %s", got)
	}
}

// TestApartCrowd is about more calls at the same time than a database has connections, all of which have a part: none
// waits for another one.
func TestApartCrowd(t *testing.T) {
	e := testEngine(t)
	var wait sync.WaitGroup
	for i := range 40 {
		wait.Go(func() {
			_, err := e.RunFunc(t.Context(), Writes, func(c *Ctx) (any, error) {
				if err := makeFile(c, fmt.Sprintf("d-call-%d", i)); err != nil {
					return nil, err
				}
				_, err := c.Apart(Part{Op: "x", Run: func(c *Ctx, _, _ any) (any, error) { return nil, makeFile(c, fmt.Sprintf("d-part-%d", i)) }})
				return nil, err
			}, Call{Op: "Test", As: e.System(), Timeout: 30 * time.Second})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := len(children(t, e)); got != 80 {
		t.Errorf("%d documents", got)
	}
}

// TestApartOthers is about a call that asks for something else at its second attempt because others have changed what it
// goes by: nothing is left out, and nothing is done twice.
func TestApartOthers(t *testing.T) {
	tests := []struct{ before, after, want string }{
		{"a b", "x a b", "d-a d-b d-x"},
		{"a b", "b", "d-a d-b"},
		{"a b c", "c b x", "d-a d-b d-c d-x"},
	}
	for _, tt := range tests {
		e := testEngine(t)
		set := func(names string) {
			err := e.Repo().Update(t.Context(), e.System(), func(tx *storage.Tx) error { return tx.Table("test").Put("names", names) })
			if err != nil {
				t.Error(err)
			}
		}
		set(tt.before)
		left := len(strings.Fields(tt.before))
		_, err := e.RunFunc(t.Context(), Writes, func(c *Ctx) (any, error) {
			var names string
			if _, err := c.Tx.Table("test").Get("names", &names); err != nil {
				return nil, err
			}
			for _, name := range strings.Fields(names) {
				_, err := c.Apart(Part{Op: "Test.Create", Params: map[string]any{"name": name}, Run: func(c *Ctx, _, _ any) (any, error) {
					if left--; left == 0 {
						set(tt.after)
					}
					return nil, makeFile(c, "d-"+name)
				}})
				if err != nil {
					return nil, err
				}
			}
			return nil, nil
		}, Call{Op: "Test", As: e.System()})
		if got := strings.Join(children(t, e), " "); err != nil || got != tt.want {
			t.Errorf("%s, then %s: %s, %v", tt.before, tt.after, got, err)
		}
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"catena/storage"
	"catena/storage/fault"
)

// effects is what a call did outside: each is numbered, so that no two are alike.
type effects struct {
	did  []string
	size int
	fail error
}

func (e *effects) do(c *Ctx, what any) (any, error) {
	return c.Once(what, func() (any, int, error) {
		e.did = append(e.did, fmt.Sprint(what, len(e.did)))
		return e.did[len(e.did)-1], e.size, e.fail
	})
}

// raiseNumber raises a number that disturb changes.
func raiseNumber(c *Ctx) error {
	var n struct{ N int }
	if _, err := c.Tx.Table("test").Get("n", &n); err != nil {
		return err
	}
	n.N++
	return c.Tx.Table("test").Put("n", n)
}

// disturb has a call lose a race against another one if it has raised the number. One that had only read it could come first in the
// order in which PostgreSQL lets both be committed.
func disturb(t *testing.T, e *Engine, n int) {
	t.Helper()
	done := make(chan error)
	go func() {
		done <- e.Repo().Update(context.Background(), e.System(), func(tx *storage.Tx) error {
			return tx.Table("test").Put("n", struct{ N int }{n})
		})
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestOnce: what a call does outside happens once, although it begins again after a lost race, and the n-th effect of a
// kind gets the answer of the n-th.
func TestOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		whats   []any
		effects effects
		want    []string
		kind    fault.Kind
	}{
		{name: "one", whats: []any{"a"}, want: []string{"a0"}},
		{name: "two", whats: []any{"a", "b"}, want: []string{"a0", "b1"}},
		{name: "the same again", whats: []any{"a", "a", "b", "a"}, want: []string{"a0", "a1", "b2", "a3"}},
		{name: "a value and its text", whats: []any{1, "1", nil, []any{}}, want: []string{"1 0", "11", "<nil> 2", "[] 3"}},
		{name: "a failure", whats: []any{"a", "b"}, effects: effects{fail: errMeant}, want: []string{"a0", "b1"}},
		{name: "as much as is kept", whats: []any{"a", "b"}, effects: effects{size: maxKept / 2}, want: []string{"a0", "b1"}},
		{name: "more than is kept", whats: []any{"a", "b"}, effects: effects{size: maxKept/2 + 1}, want: []string{"a0", "b1"}, kind: fault.Conflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := testEngine(t)
			var answers [][]string
			run := func(x *Ctx) (any, error) {
				var got []string
				for _, what := range c.whats {
					out, err := c.effects.do(x, what)
					if err != nil && !errors.Is(err, errMeant) {
						return nil, err
					}
					got = append(got, fmt.Sprint(out, err))
				}
				if answers = append(answers, got); len(answers) == 1 {
					if err := raiseNumber(x); err != nil {
						return nil, err
					}
					disturb(t, e, 1)
				}
				return nil, makeFile(x, "own")
			}
			_, err := e.RunFunc(t.Context(), Writes, run, Call{Op: "Test.Once", As: e.System()})
			if c.kind != 0 && !fault.Is(err, c.kind) || c.kind == 0 && err != nil {
				t.Fatalf("got %v, want %v", err, c.kind)
			}
			if !slices.Equal(c.effects.did, c.want) {
				t.Errorf("effects %q, want %q", c.effects.did, c.want)
			}
			if c.kind == 0 && (len(answers) != 2 || !slices.Equal(answers[0], answers[1])) {
				t.Errorf("answers of the attempts: %q", answers)
			}
		})
	}
}

// TestOnceApart: a part that is run apart has effects of its own, and the call around it, which begins again after it,
// repeats none of them. Another call does.
func TestOnceApart(t *testing.T) {
	e := testEngine(t)
	var did effects
	run := func(c *Ctx) (any, error) {
		before, err := did.do(c, "same")
		if err != nil {
			return nil, err
		}
		outs, err := c.Apart(Part{Op: "Test.Part", Run: func(c *Ctx, _, _ any) (any, error) { return did.do(c, "same") }})
		if err != nil {
			return nil, err
		}
		after, err := did.do(c, "same")
		return []any{before, outs[0], after}, err
	}
	for i, want := range []string{"[same0 same1 same2]", "[same3 same4 same5]"} {
		res, err := e.RunFunc(t.Context(), Writes, run, Call{Op: "Test.Once", As: e.System()})
		if err != nil || fmt.Sprint(res.Value) != want {
			t.Errorf("call %d: %v, %v, want %s", i, res, err, want)
		}
	}
}

// TestOnceUnknown: nobody knows what came of an effect that a panic has ended, so that it is not repeated either; and
// what cannot be told apart is refused before anything happens.
func TestOnceUnknown(t *testing.T) {
	e := testEngine(t)
	calls := 0
	run := func(c *Ctx) (any, error) {
		if calls++; calls == 1 {
			func() {
				defer func() { _ = recover() }()
				_, _ = c.Once("a", func() (any, int, error) { panic("meant") })
			}()
			if err := raiseNumber(c); err != nil {
				return nil, err
			}
			disturb(t, e, 2)
			return nil, makeFile(c, "own")
		}
		return c.Once("a", func() (any, int, error) { t.Error("it was repeated"); return nil, 0, nil })
	}
	if _, err := e.RunFunc(t.Context(), Writes, run, Call{Op: "Test.Once", As: e.System()}); !fault.Is(err, fault.Conflict) || calls != 2 {
		t.Errorf("%d attempts: %v", calls, err)
	}
	_, err := e.RunFunc(t.Context(), Writes, func(c *Ctx) (any, error) {
		return c.Once(func() {}, func() (any, int, error) { t.Error("it happened"); return nil, 0, nil })
	}, Call{Op: "Test.Once", As: e.System()})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("a function: %v", err)
	}
}

// TestOnceReads: a call that only reads is never attempted twice, and keeps nothing.
func TestOnceReads(t *testing.T) {
	e := testEngine(t)
	var did effects
	res, err := e.RunFunc(t.Context(), Reads, func(c *Ctx) (any, error) {
		a, err := did.do(c, "a")
		b, err2 := did.do(c, "a")
		return []any{a, b}, errors.Join(err, err2)
	}, Call{Op: "Test.Once", As: e.System()})
	if err != nil || fmt.Sprint(res.Value) != "[a0 a1]" {
		t.Errorf("%v, %v", res, err)
	}
}

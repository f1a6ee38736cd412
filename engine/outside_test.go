package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"catena/storage"
)

// TestOutside: what a transaction of a call has found out while none was open is known to all transactions of the call, those of
// parts that are run apart as well; attempts that begin again for it do not count as lost races, and what they did outside
// happens once.
func TestOutside(t *testing.T) {
	e := testEngine(t)
	found, calls := 0, 0
	ask := func(c *Ctx) (any, error) {
		return storage.Outside(c.Tx, "same", func(context.Context) (any, error) { found++; return found, nil })
	}
	var did effects
	run := func(c *Ctx) (any, error) {
		calls++
		sent, err := did.do(c, "sent")
		if err != nil {
			return nil, err
		}
		// Whatever is made of its error, nothing is done in an attempt that was abandoned.
		v, err := ask(c)
		if err != nil {
			if _, err := c.Call("Test.Many", nil, nil); !errors.Is(err, storage.ErrAgain) {
				t.Errorf("a step of an abandoned attempt: %v", err)
			}
			return nil, nil
		}
		outs, err := c.Apart(Part{Op: "Test.Part", Run: func(c *Ctx, _, _ any) (any, error) { return ask(c) }})
		if err != nil {
			return nil, err
		}
		return []any{sent, v, outs[0]}, makeFile(c, "own")
	}
	for i, dry := range []bool{false, true} {
		res, err := e.RunFunc(t.Context(), Writes, run, Call{Op: "Test.Outside", As: e.System(), DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("[sent%d %d %d]", i, i+1, i+1)
		if got := fmt.Sprint(res.Value); got != want || res.Attempts != 1 {
			t.Errorf("dry run %v: got %s after %d attempts, want %s after one", dry, got, res.Attempts, want)
		}
	}
	if calls != 3+2 { // a dry run does not begin again for a part
		t.Errorf("the call began %d times", calls)
	}
}

// TestContextOfAttempt: what an attempt has left running may look at its context while the call begins again. The standard
// library does so: a goroutine that it starts for a context derived from another one asks that one for its end whenever it
// comes to run. The race detector sees whether the context is changed.
func TestContextOfAttempt(t *testing.T) {
	e := testEngine(t)
	var left sync.WaitGroup
	defer left.Wait()
	run := func(c *Ctx) (any, error) {
		left.Go(func() {
			time.Sleep(20 * time.Millisecond) // it does not wait for the next attempt, which would order the two
			if _, ok := c.Deadline(); !ok {
				t.Error("the context of an earlier attempt has no deadline")
			}
		})
		return c.Apart(Part{Op: "Test.Part", Run: func(*Ctx, any, any) (any, error) { return nil, nil }})
	}
	if _, err := e.RunFunc(t.Context(), Writes, run, Call{Op: "Test.Again", As: e.System()}); err != nil {
		t.Fatal(err)
	}
}

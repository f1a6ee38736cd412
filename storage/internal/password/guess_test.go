package password_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage/internal/password"
)

// guessing is a checker with a clock that only the test moves, and a kept password.
func guessing(t *testing.T) (c *password.Checker, now *atomic.Int64, kept string) {
	t.Helper()
	now = new(atomic.Int64)
	now.Store(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC).UnixNano())
	c = &password.Checker{}
	c.Init(func() time.Time { return time.Unix(0, now.Load()) }, 8, 2)
	kept, err := c.Hash(context.Background(), "right")
	if err != nil {
		t.Fatal(err)
	}
	return c, now, kept
}

// guess counts a guess that is looked at.
func guess(t *testing.T, c *password.Checker, kept, text string, looked *atomic.Int64) bool {
	t.Helper()
	return guessFrom(t, c, "", kept, text, looked)
}

func guessFrom(t *testing.T, c *password.Checker, address, kept, text string, looked *atomic.Int64) bool {
	t.Helper()
	a := c.Guess(kept, text)
	defer a.Done()
	if _, ok, err := a.Known(t.Context()); ok || err != nil {
		return ok
	}
	if a.Wait(password.Origin{Source: address, Address: address, Stranger: true}) > 0 {
		return false
	}
	ok, err := a.Matches(t.Context(), kept, text)
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		a.Settle(nil)
	} else {
		looked.Add(1)
	}
	return ok
}

// TestGuessesAtOnce has many guess in one moment: no more are looked at than one after the
// other. Who is right counts for nothing, and is not looked at again.
func TestGuessesAtOnce(t *testing.T) {
	c, now, kept := guessing(t)
	for range 20 {
		if !guess(t, c, kept, "right", nil) {
			t.Fatal("the right password is refused")
		}
	}
	for minute := range 3 {
		var looked atomic.Int64
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() { guess(t, c, kept, fmt.Sprint(i), &looked) })
		}
		wg.Wait()
		if looked.Load() != 5 {
			t.Errorf("minute %d: %d guesses are looked at", minute, looked.Load())
		}
		if !guess(t, c, kept, "right", nil) {
			t.Error("who was right a minute ago is shut out by others")
		}
		now.Add(int64(time.Minute))
	}
	now.Add(int64(time.Hour))
	for range 5 {
		guess(t, c, kept, "wrong", new(atomic.Int64))
	}
	if wait := c.Guess(kept, "right").Wait(password.Origin{Stranger: true}); wait != 12*time.Second {
		t.Errorf("after five wrong ones: wait %s", wait)
	}
	if !guessFrom(t, c, "elsewhere", kept, "right", nil) {
		t.Error("wrong passwords from one address shut out another")
	}
}

// TestOneCheck has many try the right password at once, while its first check takes its usual time: one is made, and
// none of the attempts counts as a guess. Those who give up do not hold up the others.
func TestOneCheck(t *testing.T) {
	c := &password.Checker{}
	c.Init(time.Now, 0, 2)
	kept, err := c.Hash(t.Context(), "right")
	if err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	defer leave()
	var all sync.WaitGroup
	var checks, refused, left atomic.Int64
	for i := range 40 {
		all.Go(func() {
			ctx := t.Context()
			if i%4 == 3 {
				ctx = gone
			}
			a := c.Attempt("bob", "right")
			defer a.Done()
			_, ok, err := a.Known(ctx)
			switch {
			case err != nil:
				left.Add(1)
			case ok:
			case a.Admit(password.Origin{Source: "192.0.2.1", Address: "192.0.2.1", Stranger: true}) != nil:
				refused.Add(1)
			default:
				if checks.Add(1) == 1 {
					leave()
				}
				if ok, err := a.Matches(t.Context(), kept, "right"); !ok {
					t.Error("the right password is wrong", err)
				}
				a.Settle(nil)
			}
		})
	}
	all.Wait()
	if checks.Load() != 1 || refused.Load() > 0 || left.Load() > 10 {
		t.Errorf("%d checks, %d refused, %d gave up", checks.Load(), refused.Load(), left.Load())
	}
}

package password_test

import (
	"context"
	"fmt"
	"os"
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
	ok, wait, err := c.Guess(context.Background(), kept, text)
	if err != nil {
		t.Fatal(err)
	}
	if wait == 0 && !ok {
		looked.Add(1)
	}
	return ok
}

// TestGuesses has somebody guess without a pause, a million times in a day: 7,200 are looked
// at. Half an hour of it unless CATENA_CORPUS is all.
func TestGuesses(t *testing.T) {
	parts := int64(48)
	if os.Getenv("CATENA_CORPUS") == "all" {
		parts = 1
	}
	c, now, kept := guessing(t)
	var looked atomic.Int64
	all, pause := 1_000_000/parts, int64(24*time.Hour/1_000_000)
	for i := range all {
		if guess(t, c, kept, fmt.Sprint(i), &looked) {
			t.Fatal("a wrong guess is right")
		}
		now.Add(pause)
	}
	if got, most := looked.Load(), 7200/parts; got > most || got < most/2 {
		t.Errorf("%d of %d guesses are looked at, want at most %d", got, all, most)
	}
	t.Logf("%d of %d guesses looked at", looked.Load(), all)
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
	if _, wait, err := c.Guess(context.Background(), kept, "right"); wait != time.Minute || err != nil {
		t.Errorf("after five wrong ones: wait %s %v", wait, err)
	}
}

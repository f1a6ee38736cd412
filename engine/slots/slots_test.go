package slots

import (
	"context"
	"errors"
	"testing"
	"time"

	"catena/storage/fault"
)

func TestShares(t *testing.T) {
	s := New(Limits{Total: 3, PerUser: 2, Queue: 1, Wait: 20 * time.Millisecond})
	ctx := t.Context()
	for _, user := range []string{"ann", "ann", "bob"} {
		if err := s.Acquire(ctx, user); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Acquire(ctx, "eve"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("beyond the total: %v", err)
	}
	s.Release("bob")
	if err := s.Acquire(ctx, "ann"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("beyond ann's share: %v", err)
	}
	if err := s.Acquire(ctx, "eve"); err != nil {
		t.Errorf("a free slot: %v", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if err := s.Acquire(ended, "joe"); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that has ended: %v", err)
	}
}

// TestOrder serves callers in the order of their arrival, past one whose user has its share.
func TestOrder(t *testing.T) {
	s := New(Limits{Total: 2, PerUser: 1, Queue: 10, Wait: time.Minute})
	for _, user := range []string{"ann", "bob"} {
		if err := s.Acquire(t.Context(), user); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan string)
	for i, user := range []string{"ann", "eve", "joe"} {
		go func() {
			if s.Acquire(t.Context(), user) == nil {
				got <- user
			}
		}()
		for waiting := 0; waiting <= i; _, waiting = s.Counts() {
			time.Sleep(time.Millisecond)
		}
	}
	for i, step := range []struct{ release, served string }{{"bob", "eve"}, {"eve", "joe"}, {"ann", "ann"}} {
		s.Release(step.release)
		if user := <-got; user != step.served {
			t.Errorf("step %d: served %s, want %s", i, user, step.served)
		}
	}
	s.Close()
	if err := s.Acquire(t.Context(), "bob"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after the end: %v", err)
	}
}

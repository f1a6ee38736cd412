package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

// TestComputations has a user evaluate more at once than one may: short evaluations need no turn.
func TestComputations(t *testing.T) {
	e := New(Config{Limits: Limits{Computations: ComputationLimits{PerUser: 1, Wait: 10 * time.Millisecond}}})
	ctx, cancel := context.WithCancel(t.Context())
	of := func(user string) *computation {
		return &computation{c: &Ctx{Context: ctx, As: &storage.Principal{Name: user}, run: &running{e: e}}}
	}
	first, second := of("ann"), of("ann")
	if err := errors.Join(first.goOn(longSteps), first.goOn(2*longSteps), second.goOn(longSteps-1), of("bob").goOn(longSteps)); err != nil {
		t.Fatal(err)
	}
	if err := second.goOn(longSteps); !fault.Is(err, fault.Unavailable) {
		t.Errorf("two long evaluations of one user: %v", err)
	}
	first.end()
	if err := second.goOn(longSteps); err != nil {
		t.Errorf("after the first one has ended: %v", err)
	}
	cancel()
	if err := second.goOn(longSteps); !errors.Is(err, context.Canceled) {
		t.Errorf("after the call has ended: %v", err)
	}
}

// TestParseEnds expects that reading JSON notices the end of the call.
func TestParseEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	raw := make([]byte, 0, 200_002)
	raw = append(raw, '[')
	for range 100_000 {
		raw = append(raw, '1', ',')
	}
	raw = append(raw, '1', ']')
	if _, err := (&Ctx{Context: ctx}).ParseJSON(raw); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

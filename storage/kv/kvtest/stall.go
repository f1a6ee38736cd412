package kvtest

import (
	"context"
	"sync/atomic"

	"catena/storage/kv"
)

// Stalling is a store whose commits may get no answer for a while, as when a network drops all packets.
type Stalling struct {
	kv.Store
	stalled atomic.Pointer[chan struct{}]
}

// Stall has commits wait until the function returned is called. Then they go on.
func (s *Stalling) Stall() (end func()) {
	c := make(chan struct{})
	s.stalled.Store(&c)
	return func() {
		s.stalled.Store(nil)
		close(c)
	}
}

// Begin opens a snapshot whose commit may wait.
func (s *Stalling) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	snap, err := s.Store.Begin(ctx, write)
	if err != nil {
		return nil, err
	}
	return &stalling{snap, s}, nil
}

type stalling struct {
	kv.Snapshot
	s *Stalling
}

func (n *stalling) Commit(ctx context.Context, b *kv.Batch) error {
	if c := n.s.stalled.Load(); c != nil && len(b.Writes) > 0 {
		<-*c
	}
	return n.Snapshot.Commit(ctx, b)
}

// Package slots limits how much expensive work runs at once, in total and for each principal. Callers who must wait
// are served in the order of their arrival, except that nobody waits for a principal who has all of its share. What
// the work is, and how long it may take once it runs, is for the caller.
//
// Work is expensive here if it keeps a processor busy for much longer than a request usually takes: scripts,
// long expressions, conversions. Without a bound, one user with many such requests would slow down
// everybody's short ones.
package slots

import (
	"context"
	"sync"
	"time"

	"catena/storage/fault"
)

// Limits bound the work of one Slots.
type Limits struct {
	Total   int           // at work at once
	PerUser int           // of them for one principal
	Queue   int           // callers waiting
	Wait    time.Duration // longest wait
}

// Slots hands out the right to work.
type Slots struct {
	limits Limits

	mu     sync.Mutex
	busy   int
	users  map[string]int
	queue  []*waiter
	closed bool
}

// waiter is a caller without a slot.
type waiter struct {
	user  string
	ready chan struct{} // closed once it has a slot, or will never get one
	given bool
}

// New returns slots that are all free.
func New(l Limits) *Slots { return &Slots{limits: l, users: map[string]int{}} }

// Acquire waits for a slot for user. Each success needs one Release. An error is of kind Unavailable, or the
// cause of the context's end.
func (s *Slots) Acquire(ctx context.Context, user string) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return fault.Unavailable.Errorf("the server is stopping")
	}
	if s.free(user) {
		s.take(user)
		s.mu.Unlock()
		return nil
	}
	if len(s.queue) >= s.limits.Queue {
		defer s.mu.Unlock()
		return fault.Unavailable.Errorf("all slots are taken and %d callers are waiting", len(s.queue))
	}
	w := &waiter{user: user, ready: make(chan struct{})}
	s.queue = append(s.queue, w)
	s.mu.Unlock()
	late := time.NewTimer(s.limits.Wait)
	defer late.Stop()
	select {
	case <-w.ready:
		return s.leave(w, nil)
	case <-late.C:
		return s.leave(w, fault.Unavailable.Errorf("all slots are taken; none became free within %s", s.limits.Wait))
	case <-ctx.Done():
		return s.leave(w, context.Cause(ctx))
	}
}

// leave ends the wait of w, which may have been given a slot in the last moment.
func (s *Slots) leave(w *waiter, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.given {
		return nil
	}
	for i, x := range s.queue {
		if x == w {
			s.queue = append(s.queue[:i], s.queue[i+1:]...)
			break
		}
	}
	if err == nil {
		err = fault.Unavailable.Errorf("the server is stopping")
	}
	return err
}

// Release gives back a slot of user.
func (s *Slots) Release(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	if s.users[user]--; s.users[user] == 0 {
		delete(s.users, user)
	}
	for i := 0; i < len(s.queue) && s.busy < s.limits.Total; {
		w := s.queue[i]
		if !s.free(w.user) {
			i++
			continue
		}
		s.queue = append(s.queue[:i], s.queue[i+1:]...)
		s.take(w.user)
		w.given = true
		close(w.ready)
	}
}

func (s *Slots) free(user string) bool {
	return s.busy < s.limits.Total && s.users[user] < s.limits.PerUser
}

func (s *Slots) take(user string) {
	s.busy++
	s.users[user]++
}

// Counts returns how many slots are taken and how many callers wait.
func (s *Slots) Counts() (busy, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy, len(s.queue)
}

// Close refuses everybody who waits, and everybody who comes later.
func (s *Slots) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, w := range s.queue {
		close(w.ready)
	}
	s.queue = nil
}

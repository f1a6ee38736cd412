package simulation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"catena/storage/outbox"
)

// actor is a goroutine, or several of one purpose, that the scheduler lets go on.
type actor struct {
	name string
	at   int         // number of the server that it is of, or calls
	free atomic.Bool // the scheduler is not asked

	call *call // that is under way

	// Of the last transaction that was not begun within another one:
	open      int    // snapshots that are not discarded
	begun     uint64 // the version that it read
	committed uint64 // the version that it made, 0 if it made none
}

type actorKey struct{}

// as returns a context under which transactions are an actor's.
func (a *actor) as(ctx context.Context) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

func actorOf(ctx context.Context) *actor {
	a, _ := ctx.Value(actorKey{}).(*actor)
	return a
}

// The places at which goroutines hand over.
const (
	atRest   = "rest" // between two calls
	atBegin  = "begin"
	atRead   = "read"
	atCommit = "commit"
	atJob    = "job"  // before a delivery
	atTurn   = "turn" // before a number is taken that was waited for
)

// turn is a goroutine that waits until it is let go on.
type turn struct {
	name  string // of the actor, and of the job that is carried out
	at    int    // number of the server
	place string
	on    chan verdict
}

// verdict is what happens to a goroutine that goes on.
type verdict struct {
	fault failure
	after int // of a begun transaction: the reads before it fails
	pause int // of a begun transaction: the reads before it hands over again

	delay time.Duration // of a message to or from a database
}

// scheduler lets one goroutine go on at a time.
type scheduler struct {
	random  *rand.Rand // of the scheduler's own goroutine
	history history

	mu         sync.Mutex
	waiting    []*turn
	delivering map[int]bool // servers
}

// pass hands over to the scheduler until it says how to go on. Goroutines of nobody's go on at once.
func (s *scheduler) pass(ctx context.Context, place string) verdict {
	a := actorOf(ctx)
	if a == nil || a.free.Load() {
		return verdict{}
	}
	name := a.name + outbox.Carried(ctx)
	if renews() {
		name += " lease"
	}
	t := &turn{name: name, at: a.at, place: place, on: make(chan verdict)}
	s.mu.Lock()
	s.waiting = append(s.waiting, t)
	s.mu.Unlock()
	return <-t.on
}

// turned hands over once a goroutine has its turn to take a number: it was woken by the one before it, which goes on too, and
// which of the two makes the next identifier or takes the next number would be left to chance.
func (s *scheduler) turned(ctx context.Context) { s.pass(ctx, atTurn) }

// renews reports whether the caller renews the lease of a job, beside the goroutine that carries it out: of two turns of
// the same name, it would be left to chance which one goes on.
func renews() bool {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "outbox.(*Queue).renew") {
			return true
		}
		if !more {
			return false
		}
	}
}

// next waits until all goroutines wait and returns one of those that may go on, or nil.
func (s *scheduler) next() *turn {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.step()
	slices.SortStableFunc(s.waiting, func(a, b *turn) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.place, b.place))
	})
	ready := slices.DeleteFunc(slices.Clone(s.waiting), func(t *turn) bool { return t.place == atJob && s.delivering[t.at] })
	if len(ready) == 0 {
		return nil
	}
	t := ready[s.random.IntN(len(ready))]
	s.waiting = slices.DeleteFunc(s.waiting, func(o *turn) bool { return o == t })
	return t
}

// deliver makes one delivery of a server at a time: others would wait for their turn by the clock, and in no certain order.
func (s *scheduler) deliver(at int, do func(context.Context, outbox.Job) error) func(context.Context, outbox.Job) error {
	return func(ctx context.Context, j outbox.Job) error {
		s.pass(ctx, atJob)
		s.busy(at, true)
		defer s.busy(at, false)
		return do(ctx, j)
	}
}

func (s *scheduler) busy(at int, now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivering[at] = now
}

// release lets a goroutine go on.
func (s *scheduler) release(t *turn, v verdict) {
	s.history.add("  %s %s %s", t.name, t.place, v.fault)
	t.on <- v
}

// drain lets one go on that is within a transaction of a server, and reports whether there was one.
func (s *scheduler) drain(at int) bool {
	s.mu.Lock()
	s.history.step()
	slices.SortStableFunc(s.waiting, func(a, b *turn) int { return strings.Compare(a.name, b.name) })
	i := slices.IndexFunc(s.waiting, func(t *turn) bool { return t.place != atRest && t.at == at })
	if i < 0 {
		s.mu.Unlock()
		return false
	}
	t := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.mu.Unlock()
	s.release(t, verdict{})
	return true
}

// history is what happened in a run. What happened in one step has no order.
type history struct {
	from time.Time
	keep bool
	all  []string

	mu   sync.Mutex
	sum  hash.Hash
	last []string
}

func newHistory(keep bool) history {
	return history{sum: sha256.New(), keep: keep, from: time.Now()}
}

func (h *history) add(format string, args ...any) {
	line := fmt.Sprintf("%s "+format, append([]any{time.Since(h.from)}, args...)...)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = append(h.last, line)
}

// step ends a step.
func (h *history) step() {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.last)
	for _, line := range h.last {
		h.sum.Write([]byte(line + "\n"))
	}
	if h.keep {
		h.all = append(h.all, h.last...)
	}
	h.last = h.last[:0]
}

// trace is the digest of what has happened.
func (h *history) trace() string {
	h.step()
	return hex.EncodeToString(h.sum.Sum(nil)[:16])
}

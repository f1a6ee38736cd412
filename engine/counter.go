package engine

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// counters count what the engine does.
type counters struct {
	calls, failures, retries atomic.Int64

	mu      sync.Mutex
	samples []Sample
}

// Sample is what the counters showed at an instant.
type Sample struct {
	Time   time.Time
	Values map[string]int64
}

const maxSamples = 100

// count notes how a call ended.
func (e *Engine) count(attempts int, err error) {
	e.counters.calls.Add(1)
	if attempts > 1 {
		e.counters.retries.Add(int64(attempts - 1))
	}
	if err != nil {
		e.counters.failures.Add(1)
	}
}

// Counters takes a sample of what the engine has done since its start, and returns it after those taken before.
func (e *Engine) Counters(now time.Time) []Sample {
	n := &e.counters
	n.mu.Lock()
	defer n.mu.Unlock()
	s := Sample{now, map[string]int64{
		"catena.calls": n.calls.Load(), "catena.failures": n.failures.Load(), "catena.retries": n.retries.Load(),
	}}
	if len(n.samples) == maxSamples {
		n.samples = slices.Delete(n.samples, 0, 1)
	}
	n.samples = append(n.samples, s)
	return slices.Clone(n.samples)
}

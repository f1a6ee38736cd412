package kv

import (
	"context"
	"sync"
	"time"
)

// joinTime is how long after the first read of a Join its views may see the state of that read.
const joinTime = 100 * time.Millisecond

// Join has views that follow one another share a snapshot: each knows what those before it have read, so that a store across
// a network is asked once for what all of them read. Their functions may run again. The zero value is ready.
type Join struct {
	mu    sync.Mutex
	of    *DB
	last  Snapshot // of the view before
	began time.Time
	ended bool
}

type joinKey struct{}

// joining is what a context says of a Join.
type joining struct {
	*Join
	last bool
}

// Context returns a context whose views take part: all those, if last is not set, or one more, which is the last.
func (j *Join) Context(ctx context.Context, last bool) context.Context {
	return context.WithValue(ctx, joinKey{}, joining{j, last})
}

// joined returns what a context says, if the store makes use of it.
func (d *DB) joined(ctx context.Context) (j joining, ok bool) {
	if d.optimist == nil {
		return j, false
	}
	j, ok = ctx.Value(joinKey{}).(joining)
	return j, ok && j.take(d)
}

// take reports whether another view may take part.
func (j joining) take(d *DB) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended {
		return false
	}
	if j.ended = j.last; j.of == nil {
		j.of, j.began = d, time.Now()
	}
	// What was read stands for the state at a moment of the request. A later one is better once some time has passed.
	if j.of != d || time.Since(j.began) > joinTime {
		j.Join.last, j.of, j.began = nil, d, time.Now()
	}
	return true
}

// snapshot opens the snapshot of a view that takes part.
func (j joining) snapshot(ctx context.Context, d *DB) (Snapshot, error) {
	j.mu.Lock()
	before := j.Join.last
	j.Join.last = nil // it goes on in one view only
	j.mu.Unlock()
	return d.optimist.BeginOptimistic(ctx, before)
}

// leave keeps the snapshot of a view that has ended well for the next one.
func (j joining) leave(s Snapshot) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Join.last = s
}

// End lets no other view take part: somebody has written since, or waited for what others write.
func (j *Join) End() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended, j.last = true, nil
}

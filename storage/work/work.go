// Package work lets a computation notice that its call has ended: because of its time limit, because the client has
// gone, or because somebody ended it. Loops over what a caller sent, or over what the store holds, count their work
// on a Watch.
package work

import (
	"context"
	"io"
	"time"
)

// interval is the work between two looks at the context: about a millisecond.
const interval = 1 << 20

// Watch counts the work of one computation. It belongs to one goroutine.
type Watch struct {
	done int
}

// Do counts n units of work, each of about a nanosecond, and returns why the context has ended if it has. It looks
// at the context only now and then, so it may be called in inner loops. A nil context never ends.
func (w *Watch) Do(ctx context.Context, n int) error {
	if w.done += n; w.done < interval {
		return nil
	}
	w.done = 0
	if ctx == nil {
		return nil
	}
	return ctx.Err()
}

// Reader is r for a library that reads all of it: reading fails once the context has ended.
func Reader(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

// Read reads on.
func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Pause lets time go by, and returns why the context has ended if it does so before.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

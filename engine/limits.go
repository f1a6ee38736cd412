package engine

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"catena/engine/slots"
	"catena/engine/template"
	"catena/storage/fault"
)

// Limits bound one call; zero values take the defaults.
type Limits struct {
	Ops         int           // operations of one call (10,000)
	Depth       int           // calls within calls (32)
	Time        time.Duration // of one call (60 s)
	Steps       int           // of one chain (1,000)
	Replies     int           // bytes of an answer kept for an idempotency key (5 MiB)
	TraceRuns   int           // traces kept (1,000)
	TraceSteps  int           // steps of one trace (2,000)
	TraceMinute time.Duration // how long a trace is kept (10 min)
	Failed      int           // failed runs kept (1,000)
	UserFailed  int           // of one user (200)
	FailedRate  int           // of one user in a minute; more are not kept (60)
	FailedSize  int           // bytes of the input, of the parameters, of the variables and of the trace of one (16 KiB)
	KeepFailed  time.Duration // how long they are kept (7 days)
	Template    template.Limits

	// Computations are the long computations of templates and expressions: how many run at once (twice the processors),
	// for one user (2), and how many wait (64), how long (2 s).
	Computations slots.Limits
}

// DefaultLimits are the bounds that hold where none is given.
var DefaultLimits = Limits{
	Ops: 10_000, Depth: 32, Time: time.Minute, Steps: 1000, Replies: 5 << 20,
	TraceRuns: 1000, TraceSteps: 2000, TraceMinute: 10 * time.Minute,
	Failed: 1000, UserFailed: 200, FailedRate: 60, FailedSize: 16 << 10, KeepFailed: 7 * 24 * time.Hour,
	Template:     template.DefaultLimits,
	Computations: slots.Limits{Total: 2 * runtime.GOMAXPROCS(0), PerUser: 2, Queue: 64, Wait: 2 * time.Second},
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	set(&l.Ops, d.Ops)
	set(&l.Depth, d.Depth)
	set(&l.Time, d.Time)
	set(&l.Steps, d.Steps)
	set(&l.Replies, d.Replies)
	set(&l.TraceRuns, d.TraceRuns)
	set(&l.TraceSteps, d.TraceSteps)
	set(&l.TraceMinute, d.TraceMinute)
	set(&l.Failed, d.Failed)
	set(&l.UserFailed, d.UserFailed)
	set(&l.FailedRate, d.FailedRate)
	set(&l.FailedSize, d.FailedSize)
	set(&l.KeepFailed, d.KeepFailed)
	set(&l.Template.Source, d.Template.Source)
	set(&l.Template.Depth, d.Template.Depth)
	set(&l.Template.Steps, d.Template.Steps)
	set(&l.Template.Output, d.Template.Output)
	set(&l.Computations.Total, d.Computations.Total)
	set(&l.Computations.PerUser, d.Computations.PerUser)
	set(&l.Computations.Queue, d.Computations.Queue)
	set(&l.Computations.Wait, d.Computations.Wait)
	return l
}

func set[T int | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}

// deadline is a context that ends at an instant. It costs nothing but its own memory until
// somebody waits for it, which short calls never do.
type deadline struct {
	context.Context
	at     time.Time
	run    *running
	mu     sync.Mutex
	timed  context.Context //nolint:containedctx // made on first use
	cancel context.CancelFunc
	by     string // who ended it before its time; "": nobody
}

func (d *deadline) real() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed, d.cancel = context.WithDeadline(d.Context, d.at)
		if d.by != "" {
			d.cancel()
		}
	}
	return d.timed
}

// Deadline returns the earlier of the call's and the caller's end.
func (d *deadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

// Done returns a channel that is closed when the context ends.
func (d *deadline) Done() <-chan struct{} { return d.real().Done() }

// Err returns why the context ended, nil while it has not.
func (d *deadline) Err() error {
	d.mu.Lock()
	timed, by := d.timed, d.by
	d.mu.Unlock()
	switch {
	case timed != nil:
		return timed.Err()
	case by != "":
		return context.Canceled
	}
	if err := d.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(d.at) {
		return context.DeadlineExceeded
	}
	return nil
}

// breakOff ends it now.
func (d *deadline) breakOff(by string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.by == "" {
		d.by = by
	}
	if d.cancel != nil {
		d.cancel()
	}
}

// brokenOff returns who ended it before its time, "" if nobody did.
func (d *deadline) brokenOff() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.by
}

// stop releases the timer, if one was needed.
func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel != nil {
		d.cancel()
	}
}

// overdue names the limit if a call ended because its time was over.
func (d *deadline) overdue(err error, limit time.Duration) error {
	if err == nil || !errors.Is(err, context.DeadlineExceeded) || d.Context.Err() != nil || time.Now().Before(d.at) {
		return err
	}
	return fault.Limit.Errorf("time: the call took longer than %s", limit).WithCode(fault.CodeTransactionTimeout)
}

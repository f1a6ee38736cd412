package kv

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"catena/storage/fault"
)

// Options adjust a DB; the zero value is right for a server.
type Options struct {
	Attempts int                                        // runs of one Update before it gives up, 16
	Jitter   func() float64                             // in [0, 1), random
	Sleep    func(context.Context, time.Duration) error // waits between attempts
	Log      *slog.Logger                               // default slog.Default
	Observe  func(Stats)                                // called after every transaction
}

// Stats describe one finished transaction.
type Stats struct {
	Write    bool
	Attempts int
	Duration time.Duration
	Err      error
}

// Bounds of the pause between two attempts.
const (
	minPause = 500 * time.Microsecond
	maxPause = 64 * time.Millisecond
)

// patience is the number of lost races after which a transaction queues for its turn.
const patience = 3

// DB runs transactions on a Store.
type DB struct {
	store  Store
	opts   Options
	limits Limits
	turn   chan struct{} // held by one of the transactions that lost often

	mu        sync.Mutex
	sequences map[string]*lease
}

// New returns a DB on a store, which it closes when it is closed.
func New(s Store, o Options) *DB {
	if o.Attempts <= 0 {
		o.Attempts = 16
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &DB{store: s, opts: o, limits: s.Limits(), turn: make(chan struct{}, 1), sequences: map[string]*lease{}}
}

// Limits are the bounds of keys, values and transactions.
func (d *DB) Limits() Limits { return d.limits }

// View runs fn on one snapshot. Writes are refused.
func (d *DB) View(ctx context.Context, fn func(*Tx) error) error {
	start := d.begin()
	_, err := d.attempt(ctx, false, fn)
	d.observe(start, false, 1, err)
	return err
}

// Update runs fn in a serializable transaction and commits it, unless fn returns an
// error. If what fn read has changed meanwhile, it runs again on a new snapshot, so
// fn may have no effect outside its transaction.
func (d *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	start := d.begin()
	for try := 1; ; try++ {
		release, err := d.await(ctx, try)
		if err != nil {
			d.observe(start, true, try, err)
			return err
		}
		again, err := d.exclusive(ctx, release, fn)
		if again && try >= d.opts.Attempts {
			again, err = false, fault.Conflict.Errorf("transaction: lost the race to others %d times", try)
		}
		if !again {
			d.observe(start, true, try, err)
			return err
		}
	}
}

// exclusive is one attempt to write, which gives its turn back however fn ends.
func (d *DB) exclusive(ctx context.Context, release func(), fn func(*Tx) error) (again bool, err error) {
	if release != nil {
		defer release()
	}
	return d.attempt(ctx, true, fn)
}

// await pauses before a rerun. Those that lost often wait for their turn instead, at
// most as long, so that they no longer fight each other; the bound keeps a transaction
// that was begun inside another one from waiting for it.
func (d *DB) await(ctx context.Context, try int) (release func(), err error) {
	if try == 1 {
		return nil, nil
	}
	pause := min(maxPause, minPause<<(try-2))
	pause = pause/2 + time.Duration(d.opts.Jitter()*float64(pause)/2)
	if try <= patience {
		return nil, d.opts.Sleep(ctx, pause)
	}
	timer := time.NewTimer(max(pause, maxPause/2))
	defer timer.Stop()
	select {
	case d.turn <- struct{}{}:
		return func() { <-d.turn }, nil
	case <-timer.C:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// attempt runs fn once; again says that it lost a race.
func (d *DB) attempt(ctx context.Context, write bool, fn func(*Tx) error) (again bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	snap, err := d.store.Begin(ctx, write)
	if err != nil {
		return false, err
	}
	t := &Tx{ctx: ctx, snap: snap, limits: &d.limits, write: write}
	defer t.end()
	if err := fn(t); err != nil {
		return false, err
	}
	if write {
		if err := t.commit(); err != nil {
			return errors.Is(err, ErrConflict), err
		}
	}
	t.end()
	for _, fn := range t.after {
		fn()
	}
	return false, nil
}

// Watch returns a channel that receives after a commit woke the topic. It is a hint:
// watchers also poll.
func (d *DB) Watch(topic string) (ch <-chan struct{}, stop func()) { return d.store.Watch(topic) }

// Close returns what is left of leased sequences and closes the store.
func (d *DB) Close() error {
	d.returnLeases()
	return d.store.Close()
}

func (d *DB) begin() time.Time {
	if d.opts.Observe == nil {
		return time.Time{}
	}
	return time.Now()
}

func (d *DB) observe(start time.Time, write bool, attempts int, err error) {
	if attempts > d.opts.Attempts/2 {
		d.opts.Log.Warn("transaction lost many races", "attempts", attempts, "err", err)
	}
	if d.opts.Observe != nil {
		d.opts.Observe(Stats{Write: write, Attempts: attempts, Duration: time.Since(start), Err: err})
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package kv

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage/fault"
	"catena/storage/work"
)

// Options adjust a DB; the zero value is right for a server.
type Options struct {
	Attempts int                                        // runs of one Update before it gives up, 16
	Lease    int64                                      // the most numbers of a sequence that are taken from the store at once, 1,000
	Jitter   func() float64                             // in [0, 1), random
	Sleep    func(context.Context, time.Duration) error // waits between attempts
	Waited   func(context.Context)                      // called by a caller of Next that had to wait for another one, before it takes its number
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

// A transaction that lost patience races queues for its turn; one that lost despair
// races has others wait, for at most courtesy, while it runs. The wait for a turn is
// bounded by queueing.
const (
	patience = 3
	despair  = 6
	courtesy = 20 * time.Millisecond
	queueing = 500 * time.Millisecond
)

// DB runs transactions on a Store.
type DB struct {
	store    Store
	optimist Optimist // store, if it is one
	opts     Options
	limits   Limits
	turn     chan struct{}                 // held by one of the transactions that lost often
	yield    atomic.Pointer[chan struct{}] // closed when the one others wait for has run

	mu        sync.Mutex
	sequences map[string]*lease
}

// New returns a DB on a store, which it closes when it is closed.
func New(s Store, o Options) *DB {
	if o.Attempts <= 0 {
		o.Attempts = 16
	}
	if o.Lease <= 0 {
		o.Lease = maxLease
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Sleep == nil {
		o.Sleep = work.Pause
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	d := &DB{store: s, opts: o, limits: s.Limits(), turn: make(chan struct{}, 1), sequences: map[string]*lease{}}
	d.optimist, _ = s.(Optimist)
	return d
}

// Limits are the bounds of keys, values and transactions.
func (d *DB) Limits() Limits { return d.limits }

// Writable returns why writes would be refused now, or nil: the disk is full, or the store
// has failed.
func (d *DB) Writable() error {
	if g, ok := d.store.(Gauge); ok {
		return g.Writable()
	}
	return nil
}

// Dropped describes what the store left out of its log when it was opened, and whether this opening did it.
func (d *DB) Dropped() (what string, now bool) {
	if s, ok := d.store.(Dropper); ok {
		return s.Dropped()
	}
	return "", false
}

// View runs fn on one snapshot. Writes are refused. If the context is that of a Join, fn may run again, and for a short time if the
// store cannot be reached before fn has read anything.
func (d *DB) View(ctx context.Context, fn func(*Tx) error) error {
	start, try := d.begin(), 1
	j, ok := d.joined(ctx)
	var err error
	if ok {
		if ok, err = d.view(ctx, j, fn); !ok {
			try++
		}
	}
	if !ok {
		o, again := outage{most: maxReadOutage}, true
		for again {
			if again, err = d.attempt(ctx, false, false, fn); again {
				again = d.outlast(ctx, &o, err) == nil
			}
		}
	}
	d.observe(start, false, try, err)
	return err
}

// view runs fn in a view that takes part in a Join; ok is false if it has to run again.
func (d *DB) view(ctx context.Context, j joining, fn func(*Tx) error) (ok bool, err error) {
	snap, err := j.snapshot(ctx, d)
	if err != nil {
		return true, err
	}
	again, err := d.on(ctx, snap, false, false, fn)
	switch {
	case again:
		j.End()
		return false, nil
	case err == nil && !j.last:
		j.leave(snap)
	}
	return true, err
}

// Update runs fn in a serializable transaction and commits it, unless fn returns an
// error. If what fn read has changed meanwhile, it runs again on a new snapshot, so
// fn may have no effect outside its transaction.
func (d *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	start, try := d.begin(), 1
	err := d.rerun(ctx, &try, fn)
	d.observe(start, true, try, err)
	return err
}

// rerun makes attempts until one has won or failed for another reason than a race or a store that is out of reach.
func (d *DB) rerun(ctx context.Context, try *int, fn func(*Tx) error) error {
	var t turn
	defer t.end(d)
	o := outage{most: maxOutage}
	for ; ; *try++ {
		if err := d.await(ctx, *try, &t); err != nil {
			return err
		}
		again, err := d.attempt(ctx, true, *try > despair, fn)
		if !again {
			return err
		}
		if errors.Is(err, ErrDown) {
			if err := d.outlast(ctx, &o, err); err != nil {
				return err
			}
			*try-- // it lost no race
			continue
		}
		o = outage{most: maxOutage} // the store was reached: what comes next is another one
		if *try >= d.opts.Attempts {
			d.opts.Log.Warn("transaction gives up", "attempts", *try)
			return fault.Conflict.Errorf("transaction: conflicted with others %d times", *try).After(time.Second)
		}
	}
}

// Bounds of an outage of the store that an Update and a View outlast, and of the pause between attempts. What only reads is soon told
// of a longer one, and may be answered by another server.
const (
	maxOutage      = 30 * time.Second
	maxReadOutage  = 5 * time.Second
	maxOutagePause = 500 * time.Millisecond
)

// outage is a time in which the store cannot be reached.
type outage struct {
	most  time.Duration
	began time.Time
	pause time.Duration
}

// outlast pauses before the next attempt to reach the store, or returns why that is enough.
func (d *DB) outlast(ctx context.Context, o *outage, down error) error {
	if o.began.IsZero() {
		o.began, o.pause = time.Now(), minPause
	}
	if time.Since(o.began) > o.most {
		return down
	}
	o.pause = min(maxOutagePause, o.pause*2)
	if err := d.opts.Sleep(ctx, o.pause/2+time.Duration(d.opts.Jitter()*float64(o.pause)/2)); err != nil {
		return down
	}
	return nil
}

// turn is the place of a transaction that lost often; it keeps it until it is done.
type turn struct {
	held  bool
	yield chan struct{} // others wait for it to be closed
}

func (t *turn) end(d *DB) {
	if t.yield != nil {
		d.yield.Store(nil)
		close(t.yield)
	}
	if t.held {
		<-d.turn
	}
}

// await pauses before an attempt. Those that lost often wait for their turn instead of
// a while, so that they no longer fight each other. All waiting is bounded, so that a
// transaction begun inside another one does not wait for that one.
func (d *DB) await(ctx context.Context, try int, t *turn) error {
	switch {
	case try == 1:
		if y := d.yield.Load(); y != nil {
			return within(ctx, *y, courtesy)
		}
		return nil
	case try <= patience:
		pause := min(maxPause, minPause<<(try-2))
		return d.opts.Sleep(ctx, pause/2+time.Duration(d.opts.Jitter()*float64(pause)/2))
	case !t.held:
		timer := time.NewTimer(queueing)
		defer timer.Stop()
		select {
		case d.turn <- struct{}{}:
			t.held = true
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	case try > despair && t.yield == nil:
		t.yield = make(chan struct{})
		d.yield.Store(&t.yield)
	}
	return nil
}

// within waits for ch to be closed, for at most d.
func within(ctx context.Context, ch <-chan struct{}, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
		return nil
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// snapshot opens a snapshot. Alone is for a transaction that lost often.
func (d *DB) snapshot(ctx context.Context, write, alone bool) (Snapshot, error) {
	if alone {
		return d.store.(Loner).BeginAlone(ctx)
	}
	return d.store.Begin(ctx, write)
}

type insideKey struct{}

// Inside returns the context for a transaction that is to be committed while t is open. If t holds up the commits of others, that one is
// not among them: t would wait for itself.
func (t *Tx) Inside(ctx context.Context) context.Context {
	if !t.alone {
		return ctx
	}
	return context.WithValue(ctx, insideKey{}, true)
}

// Inside reports whether a transaction with this context is to be committed while one is open that holds up the commits of others.
func Inside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }

// attempt runs fn once; again says that it lost a race, or the store.
func (d *DB) attempt(ctx context.Context, write, alone bool, fn func(*Tx) error) (again bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if write && d.optimist != nil {
		if j, ok := ctx.Value(joinKey{}).(joining); ok {
			j.End() // who writes sees it from then on
		}
	}
	if alone {
		_, shared := d.store.(Loner)
		alone = shared && !Inside(ctx)
	}
	snap, err := d.snapshot(ctx, write, alone)
	if err != nil {
		return false, err
	}
	again, err = d.on(ctx, snap, write, alone, fn)
	return again && (write || errors.Is(err, ErrDown)), err
}

// on runs fn once on a snapshot, which ends with it.
func (d *DB) on(ctx context.Context, snap Snapshot, write, alone bool, fn func(*Tx) error) (again bool, err error) {
	t := &Tx{ctx: ctx, snap: snap, limits: &d.limits, write: write, alone: alone}
	t.remote, _ = snap.(Remote)
	if write {
		t.reads = make([][]byte, 0, 16)
	}
	defer t.end()
	err = fn(t)
	if broken := t.broken(); broken != nil {
		return passes(broken) && (write || errors.Is(broken, ErrConflict) || t.remote.Untouched()), broken
	}
	if err != nil { // also that of a statement outside of the transaction, such as for a number
		return write && errors.Is(err, ErrConflict), err
	}
	if write {
		if err := t.commit(); err != nil {
			return passes(err), err
		}
	}
	t.end()
	for _, fn := range t.after {
		fn()
	}
	return false, nil
}

// passes reports whether an error of a store is gone when the transaction runs again.
func passes(err error) bool { return errors.Is(err, ErrConflict) || errors.Is(err, ErrDown) }

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
	if d.opts.Observe != nil {
		d.opts.Observe(Stats{Write: write, Attempts: attempts, Duration: time.Since(start), Err: err})
	}
}

package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/trace"
)

const (
	most       = 8                // tries of a job
	longest    = 5 * time.Minute  // one try may take
	leaseTime  = 30 * time.Second // so long a dead worker holds its jobs back
	leaseSpare = 3 * time.Second  // so long before its end a worker that cannot renew its lease stops: clocks differ
	renewal    = 10 * time.Second
	workers    = 8
	pause      = time.Second // longest time before the queue is looked at again
	maxReason  = 2000        // bytes of what went wrong
)

// Queue is the outbox of a repository.
type Queue struct {
	DB    *kv.DB
	Clock func() time.Time
	Log   *slog.Logger

	Jitter func(most time.Duration) time.Duration // a random part of a duration
}

// Handlers carry out jobs, by kind.
type Handlers map[string]Handler

// Handler carries out jobs of a kind.
type Handler struct {
	Do     func(context.Context, Job) error
	AtOnce int // jobs at the same time; 0: as many as all kinds together

	// Buried is told, once, of a job that was given up, whatever for; nil: nobody is. Job.Failure says why.
	Buried func(context.Context, Job) error
}

// Run claims and carries out jobs until ctx ends; handlers are chosen by kind, and jobs of other kinds
// are left alone. A job that fails is tried again later, at most 8 times altogether over a day, unless it
// says GaveUp or Later; a handler may meet the same job twice. If the clock was set back since a job was added, it waits
// no longer than it was to, unless it is Fixed.
func (q *Queue) Run(ctx context.Context, handlers Handlers) error {
	woken, stop := q.DB.Watch(topic)
	defer stop()
	w := &crew{slots: make(chan struct{}, workers), busy: &busy{handlers: handlers, kinds: map[string]int{}, freed: make(chan struct{}, 1)}}
	defer w.running.Wait()
	at := &look{busy: w.busy}
	for ctx.Err() == nil {
		q.followClock(ctx, at)
		keys, err := q.due(ctx, at, cap(w.slots)*2)
		if err != nil && ctx.Err() == nil {
			q.Log.Error("outbox cannot be read", "err", err)
		}
		// There may be more than one look at the queue has returned, so the next look follows at once.
		if claimed := q.begin(ctx, w, keys); claimed {
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-woken:
		case <-w.busy.freed:
			at.whole = time.Time{} // what is left of the kind may be anywhere
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return nil
}

// bury tells who wants to know that a job was given up. What it does may take as long as what a try does.
func (q *Queue) bury(ctx context.Context, h Handler, j Job) {
	if h.Buried == nil {
		return
	}
	if err := q.try(context.WithoutCancel(ctx), &j, h.Buried); err != nil {
		q.Log.Error("the end of a job was not told", "kind", j.Kind, "job", j.ID, "err", err)
	}
}

// crew are the workers of a queue. Anyone who holds a slot may carry out one job; busy bounds the jobs of each kind.
type crew struct {
	running sync.WaitGroup
	slots   chan struct{}
	busy    *busy
}

// begin claims jobs, each as soon as a worker is free, and carries them out in the background. It reports whether it
// claimed any.
func (q *Queue) begin(ctx context.Context, w *crew, keys [][]byte) (claimed bool) {
	for _, key := range keys {
		select {
		// A job is claimed only when a worker is free: a claimed job that waits would let its lease run.
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			return claimed
		}
		until := time.Now().Add(leaseTime - leaseSpare)
		j, leased, dead, err := q.claim(ctx, key, w.busy)
		if err != nil && ctx.Err() == nil {
			q.Log.Error("job cannot be claimed", "err", err)
		}
		if err != nil || leased == nil {
			<-w.slots
			if err == nil && dead {
				q.bury(ctx, w.busy.handlers[j.Kind], j)
			}
			continue
		}
		claimed = true
		w.running.Go(func() {
			defer func() { <-w.slots }()
			defer w.busy.leave(j.Kind)
			h := w.busy.handlers[j.Kind]
			if dead := q.carryOut(ctx, &j, &lease{until: until, key: leased}, h.Do); dead != nil {
				q.bury(ctx, h, *dead)
			}
		})
	}
	return claimed
}

// followClock brings jobs that wait forward if the clock was set back since the last look, or nothing is known of it.
func (q *Queue) followClock(ctx context.Context, l *look) {
	now := q.Clock()
	if l.last.IsZero() || now.Before(l.last.Add(-pause)) {
		if err := q.advance(ctx); err != nil && ctx.Err() == nil {
			q.Log.Error("outbox cannot follow the clock, which was set back", "err", err)
		}
		l.whole = time.Time{}
	}
	l.last = now
}

// A try that ends with its process, or whose lease ends because the process is cut off from the database, has not failed: a
// server that is killed often would give up what it never could carry out. But such a job may be the reason, and then must not
// end every process at once: it waits, longer each time, and in the end it is given up.
const (
	interruptedFree  = 2 // times that a job need not wait
	interruptedLimit = 20
	interruptedPause = 5 * time.Minute // the longest
)

// Open makes the jobs due that a server was carrying out when it was killed, in a store that one process has open, so that all who had
// them are gone.
func (q *Queue) Open(ctx context.Context) error {
	return q.DB.Update(ctx, func(k *kv.Tx) error {
		now := q.Clock().UTC().Truncate(time.Millisecond)
		for row, err := range k.Scan(kv.Range{Start: []byte{Space, queueRunning}, End: []byte{Space, queueRunning + 1}}) {
			if err != nil {
				return err
			}
			var j Job
			if json.Unmarshal(row.Value, &j) != nil {
				continue
			}
			if err := k.Delete(row.Key); err != nil {
				return err
			}
			j = interrupted(j, now)
			if err := putDue(k, queueWaiting, j); err != nil {
				return err
			}
		}
		return nil
	})
}

// interrupted is a job that nobody carries out any longer although its last try has had no outcome.
func interrupted(j Job, now time.Time) Job {
	j.Since, j.Due = now, now
	j.Tries = max(0, j.Tries-1)
	if j.Interrupted++; j.Interrupted > interruptedFree && j.Interrupted < interruptedLimit {
		j.Due = now.Add(min(time.Second<<(j.Interrupted-interruptedFree-1), interruptedPause))
	}
	return j
}

// advanceBatch is how many jobs one transaction brings forward at most.
const advanceBatch = 500

// advance finds the jobs whose due time was set when the clock was ahead of what it shows now, and counts the time they
// are to wait, or to be kept, from now on.
func (q *Queue) advance(ctx context.Context) error {
	for _, queue := range []byte{queueWaiting, queueDead} {
		r := kv.Prefix([]byte{Space, queue})
		for r.Start != nil {
			var next []byte
			if err := q.DB.Update(ctx, func(k *kv.Tx) (err error) {
				next, err = q.advanceSome(k, queue, r) // r must not change: this may run again
				return err
			}); err != nil {
				return err
			}
			r.Start = next
		}
	}
	return nil
}

// advanceSome is advance for some jobs of a range. It returns where to go on, nil at the end.
func (q *Queue) advanceSome(k *kv.Tx, queue byte, r kv.Range) (next []byte, err error) {
	now := q.Clock().UTC().Truncate(time.Millisecond)
	r.Limit = advanceBatch
	n := 0
	for row, err := range k.Scan(r) {
		if err != nil {
			return nil, err
		}
		if n++; n == advanceBatch {
			next = append(slices.Clone(row.Key), 0)
		}
		var j Job
		if json.Unmarshal(row.Value, &j) != nil {
			continue
		}
		since, fixed := j.since(), j.Fixed && queue == queueWaiting && j.Tries == 0
		if !since.After(now) {
			continue
		}
		if err := k.Delete(row.Key); err != nil {
			return nil, err
		}
		if j.Since = now; !fixed {
			j.Due = now.Add(max(0, j.Due.Sub(since)))
		}
		if err := putDue(k, queue, j); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// claim moves a job to the leased ones; leased is nil if somebody else has it, its kind takes no more, or it is to wait. A job
// that has been interrupted too often is given up, and returned as dead.
func (q *Queue) claim(ctx context.Context, at []byte, busy *busy) (j Job, leased []byte, dead bool, err error) {
	err = q.DB.Update(ctx, func(k *kv.Tx) error {
		leased, dead = nil, false
		b, err := k.Get(at)
		if err != nil || b == nil {
			return err
		}
		j = Job{}
		if err := json.Unmarshal(b, &j); err != nil {
			return fault.Internal.Errorf("job: %w", err)
		}
		if !busy.takes(j.Kind) {
			return nil
		}
		if err := k.Delete(at); err != nil {
			return err
		}
		now := q.Clock().UTC().Truncate(time.Millisecond)
		if at[1] == queueRunning {
			if j = interrupted(j, now); j.Due.After(now) {
				return putDue(k, queueWaiting, j)
			}
		}
		if j.Interrupted >= interruptedLimit {
			j.Since, j.Due = now, now
			j.Failure = fmt.Sprintf("the process ended %d times while the job was carried out", j.Interrupted)
			dead = true
			return put(k, queueDead, j.Due, j)
		}
		j.Tries++
		end := q.Clock().Add(leaseTime)
		leased = key(queueRunning, end, j.ID)
		return put(k, queueRunning, end, j)
	})
	if err == nil && leased != nil {
		busy.enter(j.Kind)
	}
	return j, leased, dead, err
}

// lease is the row of a job that is being carried out.
type lease struct {
	until time.Time // when it was taken: until when the job may be carried out, by the clock of the machine

	mu  sync.Mutex
	key []byte
}

// renew prolongs a lease; false if the job is another worker's now.
func (q *Queue) renew(ctx context.Context, j *Job, l *lease) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := q.Clock().Add(leaseTime)
	next := key(queueRunning, end, j.ID)
	held := false
	err := q.DB.Update(context.WithoutCancel(ctx), func(k *kv.Tx) error {
		b, err := k.Get(l.key)
		if held = b != nil; err != nil || !held {
			return err
		}
		if err := k.Delete(l.key); err != nil {
			return err
		}
		return put(k, queueRunning, end, *j)
	})
	if err == nil && held {
		l.key = next
	}
	return held, err
}

// keepLease renews a lease until ctx ends, which it ends itself when the lease is lost. A renewal may wait for longer than the
// lease lasts, for a commit whose answer does not come: when the lease may have ended, it is lost.
func (q *Queue) keepLease(ctx context.Context, cancel context.CancelFunc, j *Job, l *lease) {
	end := time.AfterFunc(time.Until(l.until), cancel)
	defer end.Stop()
	t := time.NewTicker(renewal)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if ctx.Err() != nil {
				return
			}
			began := time.Now()
			held, err := q.renew(ctx, j, l)
			switch {
			case err != nil && ctx.Err() == nil:
				q.Log.Error("lease of a job cannot be renewed", "kind", j.Kind, "job", j.ID, "err", err)
			case !held:
				cancel()
				return
			default:
				end.Reset(time.Until(began.Add(leaseTime - leaseSpare)))
			}
		}
	}
}

type carriedKey struct{}

// Carried returns the id of the job that is being carried out under a context, "" if there is none.
func Carried(ctx context.Context) string {
	id, _ := ctx.Value(carriedKey{}).(string)
	return id
}

// carryOut runs a claimed job and settles its row. It returns the job if it was given up.
func (q *Queue) carryOut(ctx context.Context, j *Job, l *lease, do func(context.Context, Job) error) (dead *Job) {
	ctx = context.WithValue(ctx, carriedKey{}, j.ID)
	working, cancel := context.WithCancel(ctx)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		q.keepLease(working, cancel, j, l)
	}()
	failed := q.try(working, j, do)
	var never *GaveUp
	if failed != nil && working.Err() != nil && !errors.As(failed, &never) {
		failed = &Later{Why: failed.Error()} // the server stops, or the lease has ended
	}
	cancel()
	<-renewing
	return q.settle(ctx, j, l.key, failed)
}

// settle writes what became of a job, and returns it if it was given up.
func (q *Queue) settle(ctx context.Context, j *Job, leased []byte, failed error) (dead *Job) {
	// The outcome is written even when the server is about to stop.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := q.DB.Update(ctx, func(k *kv.Tx) error {
		dead = nil
		b, err := k.Get(leased)
		if err != nil || b == nil {
			return err // the lease ended, and another worker has the job
		}
		k.Wake(settledTopic)
		if err := k.Delete(leased); err != nil || failed == nil {
			return err
		}
		queue, again := q.again(*j, failed)
		if queue == queueDead {
			dead = &again
		}
		return putDue(k, queue, again)
	})
	if err != nil {
		q.Log.Error("job cannot be settled", "kind", j.Kind, "job", j.ID, "err", err)
		return nil
	}
	return dead
}

// again is a job after a failure, and the queue it goes to.
func (q *Queue) again(j Job, failed error) (byte, Job) {
	j.Failure, j.Interrupted = cutText(failed.Error(), maxReason), 0
	j.Since = q.Clock().UTC().Truncate(time.Millisecond)
	var never *GaveUp
	var later *Later
	switch {
	case errors.As(failed, &later):
		j.Tries--
		if !later.At.IsZero() {
			j.Due = later.At.UTC().Truncate(time.Millisecond)
		}
		return queueWaiting, j
	case errors.As(failed, &never), j.Tries >= most:
		j.Due = j.Since // it is kept from now on, however long it has waited
		return queueDead, j
	}
	pause := delay(j.Tries)
	j.Due = q.Clock().Add(pause + q.Jitter(pause/5)).UTC().Truncate(time.Millisecond)
	return queueWaiting, j
}

func (q *Queue) try(ctx context.Context, j *Job, do func(context.Context, Job) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if j.Trace.ID != "" {
		ctx = trace.With(ctx, j.Trace)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fault.Internal.Errorf("job %s: panic: %v", j.Kind, p)
			q.Log.Error("job panicked", "kind", j.Kind, "job", j.ID, "panic", p)
		}
	}()
	return do(ctx, *j)
}

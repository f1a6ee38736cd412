package storage

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
)

// Job is a row of the outbox: work to be done outside of transactions, at least once.
type Job struct {
	ID, Kind string
	Due      time.Time
	Tries    int
	As       string // user it acts for
	Data     json.RawMessage

	Created time.Time `json:",omitzero"`
	Failure string    `json:",omitempty"` // what went wrong last
}

const (
	jobTopic   = "jobs"
	jobTries   = 8
	jobTime    = 5 * time.Minute  // longest time one try may take
	jobLease   = 30 * time.Second // so long a dead worker holds its jobs back
	jobRenewal = 10 * time.Second
	jobWorkers = 8
	jobPause   = time.Second // longest time before the queue is looked at again
	jobKept    = 7 * 24 * time.Hour
	jobFailure = 2000 // bytes of what went wrong
)

// Enqueue adds a job that is carried out once the transaction is committed.
func (t *Tx) Enqueue(j Job) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	if j.Kind == "" {
		return fault.Invalid.Errorf("job: without a kind").In("kind")
	}
	if j.ID == "" {
		j.ID = t.NewID()
	}
	if j.Due.IsZero() {
		j.Due = t.now
	}
	if j.As == "" {
		j.As = t.as.Name
	}
	if len(j.Data) == 0 {
		j.Data = json.RawMessage("null")
	}
	j.Created, j.Due = t.now, j.Due.UTC().Truncate(time.Millisecond)
	t.Changed("job", j.Kind)
	t.kv.Wake(jobTopic)
	return putJob(t.kv, jobDue, j.Due, j)
}

func putJob(k *kv.Tx, queue byte, at time.Time, j Job) error {
	b, err := json.Marshal(j)
	if err != nil {
		return fault.Invalid.Errorf("job %s: %w", j.Kind, err)
	}
	return k.Set(jobKey(queue, at, j.ID), b)
}

// GaveUp is an error of a job that trying again cannot mend.
type GaveUp struct{ Err error }

// Error says what went wrong.
func (e *GaveUp) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *GaveUp) Unwrap() error { return e.Err }

// Later is an error of a job that could not be begun: it waits until then, and the try does not count.
type Later struct {
	At  time.Time
	Why string
}

// Error says what the job waits for.
func (e *Later) Error() string { return e.Why }

// RunJobs claims and carries out jobs until ctx ends; handlers are chosen by kind, and jobs of other kinds
// are left alone. A job that fails is tried again later, at most 8 times altogether over a day, unless it
// says GaveUp or Later; a handler may meet the same job twice.
func (r *Repo) RunJobs(ctx context.Context, handlers map[string]func(context.Context, Job) error) error {
	r.working.Add(1)
	defer r.working.Done()
	woken, stop := r.db.Watch(jobTopic)
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, jobWorkers)
	for ctx.Err() == nil {
		keys, err := r.dueJobs(ctx, handlers, cap(slots)*2)
		if err != nil && ctx.Err() == nil {
			r.log.Error("outbox cannot be read", "err", err)
		}
		claimed := false
		for _, key := range keys {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
			j, leased, err := r.claim(ctx, key)
			if err != nil || leased == nil {
				if err != nil && ctx.Err() == nil {
					r.log.Error("job cannot be claimed", "err", err)
				}
				<-slots
				continue
			}
			claimed = true
			running.Add(1)
			go func() {
				defer running.Done()
				defer func() { <-slots }()
				r.carryOut(ctx, j, &lease{key: leased}, handlers[j.Kind])
			}()
		}
		if claimed {
			continue
		}
		timer := time.NewTimer(jobPause)
		select {
		case <-woken:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return nil
}

// dueJobs returns the keys of jobs that are due, or whose lease has ended.
func (r *Repo) dueJobs(ctx context.Context, handlers map[string]func(context.Context, Job) error, max int) (keys [][]byte, err error) {
	now := r.clock()
	err = r.db.View(ctx, func(k *kv.Tx) error {
		keys = nil
		for _, queue := range []byte{jobLeased, jobDue} {
			end := jobKey(queue, now.Add(time.Millisecond), "")
			for row, err := range k.Scan(kv.Range{Start: []byte{spaceJob, queue}, End: end}) {
				if err != nil {
					return err
				}
				var j Job
				if json.Unmarshal(row.Value, &j) != nil || handlers[j.Kind] == nil {
					continue
				}
				if keys = append(keys, row.Key); len(keys) == max {
					return nil
				}
			}
		}
		return nil
	})
	return keys, err
}

// openJobs makes the jobs due that a server was carrying out when it was killed: a store is open in one process,
// so whoever had them is gone.
func (r *Repo) openJobs(ctx context.Context) error {
	return r.db.Update(ctx, func(k *kv.Tx) error {
		now := r.clock().UTC().Truncate(time.Millisecond)
		for row, err := range k.Scan(kv.Range{Start: []byte{spaceJob, jobLeased}, End: []byte{spaceJob, jobLeased + 1}}) {
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
			if err := putJob(k, jobDue, now, j); err != nil {
				return err
			}
		}
		return nil
	})
}

// claim moves a job to the leased ones; leased is nil if somebody else has it.
func (r *Repo) claim(ctx context.Context, key []byte) (j Job, leased []byte, err error) {
	err = r.db.Update(ctx, func(k *kv.Tx) error {
		leased = nil
		b, err := k.Get(key)
		if err != nil || b == nil {
			return err
		}
		j = Job{}
		if err := json.Unmarshal(b, &j); err != nil {
			return fault.Internal.Errorf("job: %w", err)
		}
		j.Tries++
		if err := k.Delete(key); err != nil {
			return err
		}
		if j.Tries > jobTries {
			return putJob(k, jobDead, j.Due, j)
		}
		end := r.clock().Add(jobLease)
		leased = jobKey(jobLeased, end, j.ID)
		return putJob(k, jobLeased, end, j)
	})
	return j, leased, err
}

// lease is the row of a job that is being carried out.
type lease struct {
	mu  sync.Mutex
	key []byte
}

// renew prolongs a lease; false if the job is another worker's by now.
func (r *Repo) renew(ctx context.Context, j Job, l *lease) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := r.clock().Add(jobLease)
	next := jobKey(jobLeased, end, j.ID)
	held := false
	err := r.db.Update(context.WithoutCancel(ctx), func(k *kv.Tx) error {
		b, err := k.Get(l.key)
		if held = b != nil; err != nil || !held {
			return err
		}
		if err := k.Delete(l.key); err != nil {
			return err
		}
		return putJob(k, jobLeased, end, j)
	})
	if err == nil && held {
		l.key = next
	}
	return held, err
}

// keepLease renews a lease until ctx ends, which it ends itself when the lease is lost.
func (r *Repo) keepLease(ctx context.Context, cancel context.CancelFunc, j Job, l *lease) {
	t := time.NewTicker(jobRenewal)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			held, err := r.renew(ctx, j, l)
			if err != nil && ctx.Err() == nil {
				r.log.Error("lease of a job cannot be renewed", "kind", j.Kind, "job", j.ID, "err", err)
			} else if !held {
				cancel()
				return
			}
		}
	}
}

// carryOut runs a claimed job and settles its row.
func (r *Repo) carryOut(ctx context.Context, j Job, l *lease, do func(context.Context, Job) error) {
	working, cancel := context.WithCancel(ctx)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		r.keepLease(working, cancel, j, l)
	}()
	failed := r.try(working, j, do)
	cancel()
	<-renewing
	r.settle(ctx, j, l.key, failed)
}

// settle writes what became of a job.
func (r *Repo) settle(ctx context.Context, j Job, leased []byte, failed error) {
	// The outcome is written even when the server is about to stop.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := r.db.Update(ctx, func(k *kv.Tx) error {
		b, err := k.Get(leased)
		if err != nil || b == nil {
			return err // the lease ended, and another worker has the job
		}
		if err := k.Delete(leased); err != nil || failed == nil {
			return err
		}
		queue, again := r.again(j, failed)
		return putJob(k, queue, again.Due, again)
	})
	if err != nil {
		r.log.Error("job cannot be settled", "kind", j.Kind, "job", j.ID, "err", err)
	}
}

// again is a job after a failure, and the queue it goes to.
func (r *Repo) again(j Job, failed error) (byte, Job) {
	j.Failure = cutText(failed.Error(), jobFailure)
	var never *GaveUp
	var later *Later
	switch {
	case errors.As(failed, &later):
		j.Tries--
		j.Due = later.At.UTC().Truncate(time.Millisecond)
		return jobDue, j
	case errors.As(failed, &never), j.Tries >= jobTries:
		return jobDead, j
	}
	j.Due = r.clock().Add(jobDelay(j.Tries)).UTC().Truncate(time.Millisecond)
	return jobDue, j
}

// cutText shortens a text, between two characters.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

func (r *Repo) try(ctx context.Context, j Job, do func(context.Context, Job) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fault.Internal.Errorf("job %s: panic: %v", j.Kind, p)
			r.log.Error("job panicked", "kind", j.Kind, "job", j.ID, "panic", p)
		}
	}()
	return do(ctx, j)
}

// jobDelays are how long a job waits after its n-th try failed, up to a fifth more: together, a day.
var jobDelays = [jobTries - 1]time.Duration{
	time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 5 * time.Hour, 14 * time.Hour,
}

func jobDelay(tries int) time.Duration {
	d := jobDelays[min(max(tries, 1), len(jobDelays))-1]
	return d + rand.N(d/5)
}

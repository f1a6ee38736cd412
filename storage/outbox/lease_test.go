package outbox

import (
	"context"
	"log/slog"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"catena/storage/kv"
	"catena/storage/kv/kvtest"
	"catena/storage/memory"
)

// attempted is a try of a job on a server.
type attempted struct {
	at  string
	ctx context.Context //nolint:containedctx // of the try
	job Job
}

// worker carries out jobs of a store as a server does, until ctx ends.
func worker(ctx context.Context, name string, rows kv.Store, tries chan<- attempted, do func(context.Context) error) *Queue {
	q := &Queue{DB: kv.New(rows, kv.Options{}), Clock: time.Now, Log: slog.New(slog.DiscardHandler), Jitter: func(time.Duration) time.Duration { return 0 }}
	go func() {
		_ = q.Run(ctx, Handlers{"slow": {Do: func(ctx context.Context, j Job) error {
			tries <- attempted{name, ctx, j}
			return do(ctx)
		}}})
	}()
	return q
}

func patient(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// TestLeaseStalls has a server renew the lease of a job without getting an answer: it has stopped the job before another
// server begins it, although the renewal is still under way, and the interruption is no try that failed.
func TestLeaseStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		rows := memory.New()
		first := &kvtest.Stalling{Store: rows}
		tries := make(chan attempted, 4)
		q := worker(ctx, "a", first, tries, patient)
		if err := q.DB.Update(ctx, func(k *kv.Tx) error {
			return addRow(k, Job{ID: "1", Kind: "slow", Due: time.Now(), Created: time.Now()})
		}); err != nil {
			t.Fatal(err)
		}
		was := <-tries
		time.Sleep(2 * leaseTime)
		synctest.Wait()
		if was.ctx.Err() != nil {
			t.Error("a job whose lease is renewed has been ended")
		}
		worker(ctx, "b", rows, tries, func(context.Context) error { return nil })
		heal := first.Stall()
		stalled := time.Now()
		next := <-tries
		if next.at != "b" || was.ctx.Err() == nil {
			t.Errorf("on %s, while the first try has been told to end: %v", next.at, was.ctx.Err())
		}
		if took := time.Since(stalled); took > time.Minute {
			t.Errorf("taken over after %s", took)
		}
		heal()
		time.Sleep(3 * leaseTime)
		synctest.Wait()
		if len(tries) > 0 {
			t.Errorf("carried out again: %+v", (<-tries).job)
		}
		stop()
	})
}

// raced is a store of which one commit loses a race: 1 is the next one.
type raced struct {
	kv.Store
	loses int
}

func (r *raced) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := r.Store.Begin(ctx, write)
	return &racedSnapshot{s, r}, err
}

type racedSnapshot struct {
	kv.Snapshot
	r *raced
}

func (s *racedSnapshot) Commit(ctx context.Context, b *kv.Batch) error {
	if len(b.Writes) > 0 {
		if s.r.loses--; s.r.loses == 0 {
			return kv.ErrConflict
		}
	}
	return s.Snapshot.Commit(ctx, b)
}

// TestAdvanceRaces has jobs brought forward that were added by a server whose clock is ahead, while others take them, so that the
// transaction runs again: each job stays in its queue.
func TestAdvanceRaces(t *testing.T) {
	for loses := range 4 {
		rows := &raced{Store: memory.New()}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		q := &Queue{DB: kv.New(rows, kv.Options{}), Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)}
		ahead := now.Add(time.Second)
		if err := q.DB.Update(t.Context(), func(k *kv.Tx) error {
			for queue, id := range map[byte]string{queueWaiting: "waits", queueRunning: "runs", queueDead: "dead"} {
				if err := put(k, queue, ahead.Add(time.Minute), Job{ID: id, Kind: "k", Due: ahead.Add(time.Minute), Created: ahead}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		rows.loses = loses
		if err := q.advance(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		if err := q.DB.View(t.Context(), func(k *kv.Tx) error {
			all, err := listRows(k, "", "", 0, 100)
			for _, j := range all {
				got[j.ID] += j.State + " " + j.Due.Sub(now).String()
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"waits": "waiting 1m0s", "runs": "running 1m1s", "dead": "dead 1m0s"}; !maps.Equal(got, want) {
			t.Errorf("commit %d lost a race: %v, want %v", loses, got, want)
		}
	}
}

// TestLeaseEnds has a server lose a lease that nobody else takes: the job is due again, and no try has been counted.
func TestLeaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		rows := &kvtest.Stalling{Store: memory.New()}
		tries := make(chan attempted, 4)
		q := worker(ctx, "a", rows, tries, patient)
		if err := q.DB.Update(ctx, func(k *kv.Tx) error {
			return addRow(k, Job{ID: "1", Kind: "slow", Due: time.Now(), Created: time.Now()})
		}); err != nil {
			t.Fatal(err)
		}
		was := <-tries
		time.Sleep(renewal - time.Second)
		heal := rows.Stall()
		<-was.ctx.Done()
		if held := time.Since(was.job.Created); held > leaseTime {
			t.Errorf("the try was ended after %s, the lease lasts %s", held, leaseTime)
		}
		heal()
		again := <-tries
		if again.job.Tries != 1 || again.job.Failure == "" {
			t.Errorf("%d tries, %q", again.job.Tries, again.job.Failure)
		}
		stop()
	})
}

package outbox

import (
	"context"
	"log/slog"
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

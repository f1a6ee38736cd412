package storage_test

import (
	"cmp"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
	"catena/storage/owner"
)

const holder = "00000000-0000-4000-8000-000000000001"

// TestHold keeps a file without a document from being swept until it is released.
func TestHold(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.BlobGrace = time.Nanosecond })
	var meta storage.Blob
	w.update(w.System(), func(tx *storage.Tx) error {
		b, err := tx.NewBlob("a.txt", "text/plain", strings.NewReader("content"))
		if err != nil {
			return err
		}
		meta = storage.Blob{Name: b.Name, Type: b.Type, Digest: b.Digest, Size: b.Size}
		return hold.Keep(tx, holder, b)
	})
	read := func() (text string) {
		if err := w.Sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
		w.view(w.System(), func(tx *storage.Tx) error {
			if b, err := hold.Load(tx, meta).Bytes(0); err == nil {
				text = string(b)
			}
			return nil
		})
		return text
	}
	if got := read(); got != "content" {
		t.Errorf("held: %q", got)
	}
	w.update(w.System(), func(tx *storage.Tx) error { return hold.Release(tx, holder, meta.Digest) })
	if got := read(); got != "" {
		t.Errorf("released: %q", got)
	}
	err := w.Update(context.Background(), w.System(), func(tx *storage.Tx) error { return hold.Release(tx, "x", meta.Digest) })
	wantKind(t, err, fault.Invalid, "not an id")
}

// TestLease has a worker go silent: another one takes its job once the lease has ended, and the try that was interrupted does not count.
func TestLease(t *testing.T) {
	var skip atomic.Int64
	base := time.Now()
	w := newWorld(t, func(c *storage.Config) {
		c.Clock = func() time.Time { return base.Add(time.Duration(skip.Load())) }
	})
	w.update(user("bob"), func(tx *storage.Tx) error { return outbox.Enqueue(tx, outbox.Job{Kind: "slow"}) })
	ctx, cancel := context.WithCancel(context.Background())
	begun, release, ended := make(chan int, 2), make(chan struct{}), make(chan error, 2)
	work := func() {
		ended <- outbox.Run(ctx, w.Repo, outbox.Handlers{
			"slow": {Do: func(_ context.Context, j outbox.Job) error {
				if j.Tries != 1 {
					t.Errorf("try %d", j.Tries)
				}
				begun <- j.Interrupted
				if j.Interrupted == 0 {
					<-release
				}
				return nil
			}},
		})
	}
	go work()
	if got := <-begun; got != 0 {
		t.Errorf("interrupted %d times", got)
	}
	skip.Store(int64(31 * time.Second))
	go work()
	if got := <-begun; got != 1 {
		t.Errorf("interrupted %d times", got)
	}
	close(release)
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		if jobs, err := outbox.Jobs(tx, "", "", 10); err != nil || len(jobs) != 0 {
			t.Errorf("left: %v %v", jobs, err)
		}
		return nil
	})
}

// TestInterruptedJobs kills the server again and again while it carries out a job. The job is not given up as if it had
// failed, but waits ever longer, until it is likely to be what ends the server. A server that is stopped puts its jobs back.
func TestInterruptedJobs(t *testing.T) {
	var skip atomic.Int64
	base := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := newWorld(t, func(c *storage.Config) { c.Clock = inClock(base, &skip) })
	w.update(w.System(), func(tx *storage.Tx) error { return outbox.Enqueue(tx, outbox.Job{Kind: "slow", ID: "one"}) })
	job := func(r *storage.Repo) (state outbox.State) {
		err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
			all, err := outbox.Jobs(tx, "", "slow", 10)
			if len(all) == 1 {
				state = all[0]
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	begin := func(r *storage.Repo) (end func()) {
		ctx, cancel := context.WithCancel(context.Background())
		begun, ended := make(chan bool), make(chan error)
		go func() {
			ended <- outbox.Run(ctx, r, outbox.Handlers{"slow": {Do: func(ctx context.Context, _ outbox.Job) error {
				begun <- true
				<-ctx.Done()
				return ctx.Err()
			}}})
		}()
		<-begun
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	for range 10 {
		begin(w.Repo)()
		if j := job(w.Repo); j.State != outbox.Waits || j.Tries != 0 || j.Due != base {
			t.Fatalf("after the server was stopped: %+v", j)
		}
	}
	kill := func(r *storage.Repo) *storage.Repo {
		end := begin(r)
		next, err := storage.Open(t.Context(), storage.Config{DB: w.db, Blobs: w.blobs, Types: w.Types(), Owners: owner.All, Clock: inClock(base, &skip)}, "")
		if err != nil {
			t.Fatal(err)
		}
		end()
		return next
	}
	r := w.Repo
	for n := range 19 {
		r = kill(r)
		j := job(r)
		pause := time.Duration(0)
		if n >= 2 {
			pause = min(time.Second<<(n-2), 5*time.Minute)
		}
		now := base.Add(time.Duration(skip.Load()))
		if j.State != outbox.Waits || j.Tries != 0 || !j.Due.Equal(now.Add(pause)) {
			t.Errorf("killed %d times: %+v, want due after %s", n+1, j, pause)
		}
		skip.Add(int64(pause))
	}
	r = kill(r)
	ctx, cancel := context.WithCancel(t.Context())
	told := ""
	if err := outbox.Run(ctx, r, outbox.Handlers{"slow": {
		Do:     func(context.Context, outbox.Job) error { t.Error("it is carried out again"); return nil },
		Buried: func(_ context.Context, j outbox.Job) error { told = j.Failure; cancel(); return nil },
	}}); err != nil {
		t.Fatal(err)
	}
	if j := job(r); told != j.Failure || j.State != outbox.GivenUp || j.Failure != "the process ended 20 times while the job was carried out" {
		t.Errorf("in the end: %+v", j)
	}
}

func inClock(base time.Time, skip *atomic.Int64) func() time.Time {
	return func() time.Time { return base.Add(time.Duration(skip.Load())) }
}

// TestAtOnce has a kind of which two jobs may run at once: the others wait, hold no other kind up, and follow as soon as one
// has ended, whatever the clock says.
func TestAtOnce(t *testing.T) {
	base := time.Now()
	w := newWorld(t, func(c *storage.Config) { c.Clock = func() time.Time { return base } })
	const jobs = 20
	w.update(user("bob"), func(tx *storage.Tx) error {
		var bad error
		for range jobs {
			bad = cmp.Or(bad, outbox.Enqueue(tx, outbox.Job{Kind: "narrow"}))
		}
		return cmp.Or(bad, outbox.Enqueue(tx, outbox.Job{Kind: "wide"}))
	})
	ctx, cancel := context.WithCancel(t.Context())
	begun, release, wide, ended := make(chan int, jobs), make(chan struct{}), make(chan bool, 1), make(chan error)
	go func() {
		ended <- outbox.Run(ctx, w.Repo, outbox.Handlers{
			"narrow": {AtOnce: 2, Do: func(_ context.Context, j outbox.Job) error {
				begun <- j.Tries
				<-release
				return nil
			}},
			"wide": {Do: func(context.Context, outbox.Job) error { wide <- true; return nil }},
		})
	}()
	<-wide
	<-begun
	<-begun
	for left := jobs - 2; left > 0; left-- {
		if n := len(begun); n != 0 {
			t.Fatalf("%d more at once", n)
		}
		release <- struct{}{} // exactly one ends
		if tries := <-begun; tries != 1 {
			t.Errorf("try %d", tries)
		}
	}
	close(release)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

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

// TestLease has a worker go silent: another one takes its job once the lease has ended.
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
				begun <- j.Tries
				if j.Tries == 1 {
					<-release
				}
				return nil
			}},
		})
	}
	go work()
	if got := <-begun; got != 1 {
		t.Errorf("try %d", got)
	}
	skip.Store(int64(31 * time.Second))
	go work()
	if got := <-begun; got != 2 {
		t.Errorf("try %d", got)
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

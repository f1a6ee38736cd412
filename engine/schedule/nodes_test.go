package schedule_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"catena/engine/schedule"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/outbox"
	"catena/storage/storagetest"
)

const once = "name: Once\nas: Administrator\nat: 2026-03-28T12:01:00Z\nrun: Document.Create\ninput: /\nparams: {type: Note, name: made}\n"

// second is another server on the same store, which has not followed the first one since it was started.
func (w *world) second() *world {
	other := &world{t: w.t, repo: w.repo}
	other.clock.Store(w.clock.Load())
	other.start()
	return other
}

// TestNotFollowed has a server take jobs of a schedule that another one has saved or changed, before it has followed: the jobs
// wait for who knows the schedule, and it runs once. What the server knows of before changes nothing.
func TestNotFollowed(t *testing.T) {
	w := newWorld(t)
	other := w.second()
	w.save(once)
	other.clock.Add(time.Minute.Milliseconds())
	do := other.schedules.Jobs()[schedule.DueJob].Do
	for _, j := range w.jobs() {
		var later *outbox.Later
		if err := do(t.Context(), j.Job); !errors.As(err, &later) || later.At.IsZero() {
			t.Errorf("a job of a schedule that the server does not know: %v", err)
		}
	}
	if n := len(w.jobs()); n != 1 {
		t.Fatalf("%d jobs", n)
	}
	if w.pass(time.Minute); w.made() != 1 {
		t.Errorf("made %d times", w.made())
	}
	if _, err := other.run("Schedule.RunNow", map[string]any{"name": "Once"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("run now, not followed: %v", err)
	}
	w.must(other.schedules.Refresh(t.Context(), other.engine))
	w.save(once + "description: changed\n")
	if _, err := other.run("Schedule.RunNow", map[string]any{"name": "Once"}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("run now, changed since: %v", err)
	}
}

// breaking is a store whose scans break while it is told so, as those of a database do whose connection is lost.
type breaking struct {
	kv.Store
	broken atomic.Bool
}

func (b *breaking) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := b.Store.Begin(ctx, write)
	return &brokenSnapshot{s, b}, err
}

type brokenSnapshot struct {
	kv.Snapshot
	b *breaking
}

func (s *brokenSnapshot) Scan(r kv.Range) kv.Cursor {
	if s.b.broken.Load() {
		return brokenCursor{}
	}
	return s.Snapshot.Scan(r)
}

type brokenCursor struct{}

func (brokenCursor) Next() bool             { return false }
func (brokenCursor) Key() []byte            { return nil }
func (brokenCursor) Value() ([]byte, error) { return nil, nil }
func (brokenCursor) Err() error             { return fault.Unavailable.Errorf("the connection is lost") }
func (brokenCursor) Close()                 {}

// TestRefreshBreaks has a server follow others while it loses the connection to the store: what it does not read is not taken for
// withdrawn, so that nothing is planned, and run, once more.
func TestRefreshBreaks(t *testing.T) {
	rows := &breaking{Store: memory.New()}
	w := &world{t: t}
	w.clock.Store(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC).UnixMilli())
	w.repo = storagetest.Open(t, func(c *storage.Config) { c.Clock, c.DB = w.now, kv.New(rows, kv.Options{}) })
	w.start()
	w.save(once)
	if w.pass(time.Minute); w.made() != 1 {
		t.Fatalf("made %d times", w.made())
	}
	rows.broken.Store(true)
	if err := w.schedules.Refresh(t.Context(), w.engine); !fault.Is(err, fault.Unavailable) {
		t.Errorf("refresh without a connection: %v", err)
	}
	rows.broken.Store(false)
	if st := w.status(); st.Name != "Once" {
		t.Errorf("withdrawn: %+v", st)
	}
	w.must(w.schedules.Refresh(t.Context(), w.engine))
	if w.pass(time.Minute); w.made() != 1 || len(w.jobs()) > 0 {
		t.Errorf("made %d times, %d jobs", w.made(), len(w.jobs()))
	}
}

// TestSavedIsPlanned has all writes fail that follow the one that saves a schedule, or removes it: it is due all the same, or not any
// longer.
func TestSavedIsPlanned(t *testing.T) {
	rows := &fewWrites{Store: memory.New()}
	rows.left.Store(1 << 40)
	w := &world{t: t}
	w.clock.Store(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC).UnixMilli())
	w.repo = storagetest.Open(t, func(c *storage.Config) { c.Clock, c.DB = w.now, kv.New(rows, kv.Options{}) })
	w.start()
	rows.left.Store(1)
	w.save(once)
	rows.left.Store(1 << 40)
	if jobs := w.jobs(); len(jobs) != 1 || !jobs[0].Due.Equal(w.now().Add(time.Minute)) {
		t.Fatalf("jobs of a schedule that was saved: %v", jobs)
	}
	if w.pass(time.Minute); w.made() != 1 {
		t.Errorf("made %d times", w.made())
	}
	const again = "name: Once\nas: Administrator\nat: 2026-03-28T12:02:00Z\nrun: Document.Create\ninput: /\nparams: {type: Note, name: made}\n"
	w.save(again)
	rows.left.Store(1)
	if _, err := w.run("Schedule.Delete", map[string]any{"name": "Once"}); err != nil {
		t.Fatal(err)
	}
	rows.left.Store(1 << 40)
	if w.pass(2 * time.Minute); w.made() != 1 {
		t.Errorf("a schedule that was removed has run: made %d times", w.made())
	}
}

// fewWrites is a store that refuses commits once some were made.
type fewWrites struct {
	kv.Store
	left atomic.Int64
}

func (f *fewWrites) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := f.Store.Begin(ctx, write)
	return &fewWriting{s, f}, err
}

type fewWriting struct {
	kv.Snapshot
	of *fewWrites
}

func (s *fewWriting) Commit(ctx context.Context, b *kv.Batch) error {
	if s.of.left.Add(-1) < 0 {
		return fault.Unavailable.Errorf("the disk is full")
	}
	return s.Snapshot.Commit(ctx, b)
}

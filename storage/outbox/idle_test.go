package outbox

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"catena/storage/badger"
	"catena/storage/kv"
	"catena/storage/memory"
)

// later puts so many jobs into a queue that are due in the next days, as those of schedules are.
func (d *desk) later(n int) {
	d.t.Helper()
	jobs := make([]Job, n)
	for i := range jobs {
		jobs[i] = Job{ID: fmt.Sprintf("j%05d", i), Kind: "a", Due: d.now.Add(time.Hour + time.Duration(i)*time.Minute), Data: []byte(`{"name":"Nightly","at":"2026-03-01T12:00:00Z"}`)}
	}
	d.put(queueWaiting, jobs...)
}

// TestIdle: a look at the queue reads no job that is not due, however many wait.
func TestIdle(t *testing.T) {
	allocs := func(n int) float64 {
		d := newDesk(t)
		d.later(n)
		busy := anything()
		return testing.AllocsPerRun(100, func() {
			if keys, err := d.due(t.Context(), &look{busy: busy}, 16); err != nil || len(keys) != 0 {
				t.Fatalf("%d are due: %v", len(keys), err)
			}
		})
	}
	// Each job that is read costs more than ten allocations.
	if few, many := allocs(10), allocs(10_000); many > few+10 {
		t.Errorf("a look with 10 jobs that wait allocates %v times, with 10,000 %v", few, many)
	}
	d := newDesk(t)
	d.later(10_000)
	d.now = d.now.Add(time.Hour + 3*time.Minute)
	if keys, err := d.due(t.Context(), &look{busy: anything()}, 16); err != nil || len(keys) != 4 {
		t.Errorf("%d are due after an hour: %v", len(keys), err)
	}
}

// TestLook: the rows before the first job that may be carried out are passed over once a second, not by every look, and no job is
// missed for longer.
func TestLook(t *testing.T) {
	d := newDesk(t)
	jobs := make([]Job, 100)
	for i := range jobs {
		jobs[i] = Job{ID: fmt.Sprintf("j%02d", i), Kind: "a", Due: d.now.Add(-time.Hour + time.Duration(i)*time.Second)}
	}
	jobs[0].Kind = "narrow"
	d.put(queueWaiting, jobs...)
	l := &look{busy: anything()}
	l.busy.enter("narrow")
	first := func(want string) {
		t.Helper()
		keys, err := d.due(t.Context(), l, 1)
		d.check(err)
		got := ""
		if len(keys) > 0 {
			got = string(keys[0][len(key(queueWaiting, d.now, "")):])
		}
		if got != want {
			t.Errorf("%q is due, want %q", got, want)
		}
	}
	d.followClock(t.Context(), l)
	first("j01") // that before it is of a kind that is full
	if begin := l.begin(queueWaiting, false); !bytes.Equal(begin, key(queueWaiting, jobs[1].Due, "j01")) {
		t.Errorf("the next look begins at %q", begin)
	}
	d.put(queueWaiting, Job{ID: "late", Kind: "a", Due: d.now.Add(-2 * time.Hour)})
	first("j01")
	d.now = d.now.Add(pause)
	first("late")
	l.busy.leave("narrow")
	d.update(func(k *kv.Tx) error { return k.Delete(key(queueWaiting, d.now.Add(-2*time.Hour-pause), "late")) })
	first("j00")
	d.now = d.now.Add(-2 * time.Hour) // the clock is set back
	d.put(queueWaiting, Job{ID: "first", Kind: "a", Due: d.now.Add(-time.Hour)})
	d.followClock(t.Context(), l)
	first("first")

	// Of a queue that was empty, the last minute is looked at.
	d = newDesk(t)
	l = &look{busy: anything()}
	first("")
	d.put(queueWaiting, Job{ID: "slow", Kind: "a", Due: d.now.Add(-lookBack)})
	first("slow")

	// One that comes in long after it was due, as a run that a schedule makes up for, is found at once, and again when the clock was set
	// back.
	d = newDesk(t)
	l = &look{busy: anything()}
	d.followClock(t.Context(), l)
	first("")
	d.update(func(k *kv.Tx) error {
		return addRow(k, Job{ID: "missed", Kind: "a", Due: d.now.Add(-2 * time.Hour), Fixed: true, Created: d.now})
	})
	first("missed")
	d.now = d.now.Add(-time.Hour)
	d.followClock(t.Context(), l)
	first("missed")
}

// BenchmarkLook is a look at a queue with a job to do, behind those that were carried out and have not been merged away.
func BenchmarkLook(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			store, err := badger.Open(b.TempDir(), badger.Options{})
			if err != nil {
				b.Fatal(err)
			}
			db := kv.New(store, kv.Options{})
			defer func() { _ = db.Close() }()
			d := &desk{Queue: &Queue{DB: db, Clock: func() time.Time { return start }}, now: start}
			row := func(i int) Job {
				return Job{ID: fmt.Sprintf("j%05d", i), Kind: "a", Due: start.Add(-time.Hour + time.Duration(i)*time.Millisecond)}
			}
			for _, f := range []func(k *kv.Tx, j Job) error{
				func(k *kv.Tx, j Job) error { return put(k, queueWaiting, j.Due, j) },
				func(k *kv.Tx, j Job) error { return k.Delete(key(queueWaiting, j.Due, j.ID)) },
			} {
				if err := d.DB.Update(b.Context(), func(k *kv.Tx) error {
					for i := range n {
						if err := f(k, row(i)); err != nil {
							return err
						}
					}
					j := row(n)
					return put(k, queueWaiting, j.Due, j)
				}); err != nil {
					b.Fatal(err)
				}
			}
			l := &look{busy: anything()}
			b.ReportAllocs()
			for b.Loop() {
				if keys, err := d.due(b.Context(), l, 16); err != nil || len(keys) != 1 {
					b.Fatal(len(keys), err)
				}
			}
		})
	}
}

// BenchmarkIdle is a look at a queue in which nothing is due, which is made once a second.
func BenchmarkIdle(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			db := kv.New(memory.New(), kv.Options{})
			defer func() { _ = db.Close() }()
			d := &desk{Queue: &Queue{DB: db, Clock: func() time.Time { return start }}, now: start}
			if err := d.DB.Update(b.Context(), func(k *kv.Tx) error {
				for i := range n {
					j := Job{ID: fmt.Sprintf("j%05d", i), Kind: "a", Due: start.Add(time.Hour + time.Duration(i)*time.Minute)}
					if err := put(k, queueWaiting, j.Due, j); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
			busy := anything()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.due(b.Context(), &look{busy: busy}, 16); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

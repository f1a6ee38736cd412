package outbox

import (
	"fmt"
	"testing"
	"time"

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
	look := func(n int) float64 {
		d := newDesk(t)
		d.later(n)
		busy := anything()
		return testing.AllocsPerRun(100, func() {
			if keys, err := d.due(t.Context(), busy, 16); err != nil || len(keys) != 0 {
				t.Fatalf("%d are due: %v", len(keys), err)
			}
		})
	}
	// Each job that is read costs more than ten allocations.
	if few, many := look(10), look(10_000); many > few+10 {
		t.Errorf("a look with 10 jobs that wait allocates %v times, with 10,000 %v", few, many)
	}
	d := newDesk(t)
	d.later(10_000)
	d.now = d.now.Add(time.Hour + 3*time.Minute)
	if keys, err := d.due(t.Context(), anything(), 16); err != nil || len(keys) != 4 {
		t.Errorf("%d are due after an hour: %v", len(keys), err)
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
				if _, err := d.due(b.Context(), busy, 16); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package postgres

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"catena/storage/kv"
	"catena/storage/postgres/pgtest"
)

// put writes one value under several keys in one transaction.
func put(t *testing.T, d *kv.DB, value string, keys ...string) {
	t.Helper()
	if err := d.Update(ctx, func(tx *kv.Tx) error {
		for _, k := range keys {
			if err := tx.Set([]byte(k), []byte(value)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestJoinedViews: views that are joined see one state, in one round trip, as long as it is the present one where more is
// read; where it is not, the function runs again.
func TestJoinedViews(t *testing.T) {
	s := opened(t, pgtest.Schema())
	d := kv.New(s, kv.Options{Log: quiet})
	defer d.Close()
	put(t, d, "1", "a", "b")
	for _, c := range []struct {
		name         string
		between      func(j *kv.Join)
		want         string // what the last view reads of a and b
		runs, rounds int    // of its function, and round trips of its last run
	}{
		{"nothing happens", func(*kv.Join) {}, "1 1", 1, 1},
		{"what was not read changes", func(*kv.Join) { put(t, d, "2", "b") }, "1 2", 1, 1},
		{"what was read changes", func(*kv.Join) { put(t, d, "3", "a", "b") }, "3 3", 2, 2},
		{"what was read goes", func(*kv.Join) {
			if err := d.Update(ctx, func(tx *kv.Tx) error { return tx.Delete([]byte("a")) }); err != nil {
				t.Fatal(err)
			}
		}, " 3", 2, 2},
		{"what was absent comes", func(*kv.Join) { put(t, d, "4", "a") }, "4 3", 2, 2},
		{"the request has written", func(j *kv.Join) {
			if err := d.Update(j.Context(ctx, false), func(tx *kv.Tx) error { return tx.Set([]byte("a"), []byte("5")) }); err != nil {
				t.Fatal(err)
			}
		}, "5 3", 1, 2},
		{"time passes", func(*kv.Join) { put(t, d, "6", "a"); time.Sleep(110 * time.Millisecond) }, "6 3", 1, 2},
	} {
		var j kv.Join
		if err := d.View(j.Context(ctx, false), func(tx *kv.Tx) error { return tx.Prefetch([][]byte{[]byte("a")}) }); err != nil {
			t.Fatal(err)
		}
		c.between(&j)
		runs, rounds, got := 0, 0, ""
		if err := d.View(j.Context(ctx, true), func(tx *kv.Tx) error {
			runs++
			a, err := tx.Get([]byte("a"))
			if err != nil {
				return err
			}
			b, err := tx.Get([]byte("b"))
			got, rounds = string(a)+" "+string(b), tx.RoundTrips()
			return err
		}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got != c.want || runs != c.runs || rounds != c.rounds {
			t.Errorf("%s: %q in %d runs and %d round trips, want %q in %d and %d", c.name, got, runs, rounds, c.want, c.runs, c.rounds)
		}
		if used := s.main.Stat().AcquiredConns(); used != 0 {
			time.Sleep(50 * time.Millisecond) // the last ROLLBACK
			if used = s.main.Stat().AcquiredConns(); used != 0 {
				t.Errorf("%s: %d connections are still in use", c.name, used)
			}
		}
	}
}

// TestJoinedViewsAreConsistent: whatever is written between and while joined views read, they see keys that are always
// written together with one value.
func TestJoinedViewsAreConsistent(t *testing.T) {
	s := opened(t, pgtest.Schema())
	d := kv.New(s, kv.Options{Log: quiet})
	defer d.Close()
	keys := []string{"a", "b", "c"}
	put(t, d, "0", keys...)
	stop := make(chan struct{})
	var writers, readers sync.WaitGroup
	writers.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
				put(t, d, strconv.Itoa(i), keys...)
			}
		}
	})
	again := make([]int, 4)
	for r := range again {
		readers.Go(func() {
			for range 300 {
				var j kv.Join
				for i, last := range []bool{false, false, true} {
					err := d.View(j.Context(ctx, last), func(tx *kv.Tx) error {
						again[r]++
						var values [3][]byte
						for n := range i + 1 {
							var err error
							if values[n], err = tx.Get([]byte(keys[n])); err != nil {
								return err
							}
							if string(values[n]) != string(values[0]) {
								return errors.New("the values differ: " + string(values[0]) + " and " + string(values[n]))
							}
						}
						return nil
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	readers.Wait()
	close(stop)
	writers.Wait()
	sum := 0
	for _, n := range again {
		sum += n - 900
	}
	if sum == 0 {
		t.Error("no view ran again, although what it had read was changed")
	}
}

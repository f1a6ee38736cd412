package badger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage/kv"
)

// BenchmarkWhileMerging reports what reads wait for while level 0 is merged, which rewrites most of what is below it: small rows
// are written at a rate at which merges follow each other, beside 100 reads a second.
func BenchmarkWhileMerging(b *testing.B) {
	d := kv.New(open(b, b.TempDir(), Relaxed), kv.Options{})
	defer d.Close()
	value := make([]byte, 100)
	var written atomic.Uint64
	key := func(i uint64) []byte { return fmt.Appendf(nil, "%016x/%08d", i*0x9e3779b97f4a7c15, i) }
	write := func(n int) {
		if err := d.Update(ctx, func(tx *kv.Tx) error {
			for range n {
				if err := tx.Set(key(written.Load()), value); err != nil {
					return err
				}
				written.Add(1)
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	for written.Load() < 4_000_000 {
		write(10_000)
	}
	for range b.N {
		var times []time.Duration
		var mu sync.Mutex
		var wg sync.WaitGroup
		var done atomic.Bool
		for range 2 {
			wg.Go(func() {
				for !done.Load() {
					k := key(rand.Uint64N(written.Load() - 10_000))
					begun := time.Now()
					err := d.View(ctx, func(tx *kv.Tx) error { _, err := tx.Get(k); return err })
					took := time.Since(begun)
					mu.Lock()
					if times = append(times, took); err != nil {
						b.Error(err)
					}
					mu.Unlock()
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
		for begun := time.Now(); time.Since(begun) < 40*time.Second; {
			write(500)
			time.Sleep(20 * time.Millisecond)
		}
		done.Store(true)
		wg.Wait()
		slices.Sort(times)
		for _, p := range []int{500, 900, 990, 999} {
			b.ReportMetric(float64(times[len(times)*p/1000].Microseconds()), fmt.Sprintf("p%d-µs", p))
		}
		b.ReportMetric(float64(times[len(times)-1].Microseconds()), "max-µs")
	}
	b.ReportMetric(0, "ns/op")
}

package badger

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"catena/storage/kv"
)

// BenchmarkCommit measures transactions of three small writes, alone and side by side.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 16} {
		for name, d := range map[string]Durability{"strict": Strict, "relaxed": Relaxed} {
			b.Run(fmt.Sprintf("%s/%d", name, writers), func(b *testing.B) {
				s := kv.New(open(b, b.TempDir(), d), kv.Options{})
				defer s.Close()
				value := make([]byte, 200)
				b.ReportAllocs()
				b.SetParallelism(max(1, writers/2))
				work := func(next func() bool, w uint64) {
					r := rand.New(rand.NewPCG(w, 0))
					for next() {
						err := s.Update(ctx, func(tx *kv.Tx) error {
							for range 3 {
								if err := tx.Set(fmt.Appendf(nil, "%016x", r.Uint64()), value); err != nil {
									return err
								}
							}
							return nil
						})
						if err != nil {
							b.Error(err)
						}
					}
				}
				if writers == 1 {
					work(b.Loop, 1)
				} else {
					b.RunParallel(func(pb *testing.PB) { work(pb.Next, rand.Uint64()) })
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			})
		}
	}
}

const benchRows = 50_000

func benchKey(i int) []byte { return fmt.Appendf(nil, "document/%08d", i) }

// filledStore is a store with benchRows rows in tables, and Badger as it lies below.
func filledStore(b *testing.B) (*kv.DB, *badger.DB) {
	b.Helper()
	dir := b.TempDir()
	d := kv.New(open(b, dir, Strict), kv.Options{})
	value := make([]byte, 1000)
	for i := 0; i < benchRows; {
		if err := d.Update(ctx, func(tx *kv.Tx) error {
			for range 10_000 {
				if err := tx.Set(benchKey(i), value); err != nil {
					return err
				}
				i++
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
	s := open(b, dir, Strict)
	d = kv.New(s, kv.Options{})
	b.Cleanup(func() { _ = d.Close() })
	return d, s.db
}

// BenchmarkGet compares a read in a transaction of its own with Badger's.
func BenchmarkGet(b *testing.B) {
	d, raw := filledStore(b)
	b.Run("store", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i += 7919 {
			if err := d.View(ctx, func(tx *kv.Tx) error {
				v, err := tx.Get(benchKey(i % benchRows))
				if len(v) != 1000 {
					b.Fatal(len(v))
				}
				return err
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i += 7919 {
			txn := raw.NewTransactionAt(1<<62, false)
			item, err := txn.Get(benchKey(i % benchRows))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := item.ValueCopy(nil); err != nil {
				b.Fatal(err)
			}
			txn.Discard()
		}
	})
}

// BenchmarkScan reads twenty neighbours, and everything.
func BenchmarkScan(b *testing.B) {
	d, _ := filledStore(b)
	for _, n := range []int{20, benchRows} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i += 7919 {
				if err := d.View(ctx, func(tx *kv.Tx) error {
					for _, err := range tx.Scan(kv.Range{Start: benchKey(i % (benchRows - n + 1)), End: []byte("document0"), Limit: n}) {
						if err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkBulk compares large transactions with Badger's own batches.
func BenchmarkBulk(b *testing.B) {
	const rows = 10_000
	value := make([]byte, 1000)
	b.Run("store", func(b *testing.B) {
		d := kv.New(open(b, b.TempDir(), Strict), kv.Options{})
		defer d.Close()
		b.ReportAllocs()
		for n := 0; b.Loop(); n += rows {
			if err := d.Update(ctx, func(tx *kv.Tx) error {
				for i := range rows {
					if err := tx.Set(benchKey(n+i), value); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("raw", func(b *testing.B) {
		raw, err := openTables(b.TempDir(), logger{&store{log: quiet}})
		if err != nil {
			b.Fatal(err)
		}
		defer raw.Close()
		b.ReportAllocs()
		for n := 0; b.Loop(); n += rows {
			w := raw.NewWriteBatchAt(uint64(n + 1))
			for i := range rows {
				if err := w.Set(benchKey(n+i), value); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}

// BenchmarkOpen opens an empty store.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		b.StartTimer()
		s := open(b, dir, Strict)
		b.StopTimer()
		_ = s.Close()
		b.StartTimer()
	}
}

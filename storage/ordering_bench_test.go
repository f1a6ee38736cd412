package storage_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/badger"
	"catena/storage/growth"
	"catena/storage/kv"
	"catena/storage/search"
)

// BenchmarkOrdered asks for pages of 50 in the order of a property, with an index for each property and with one for the
// query. CATENA_BENCH_SCALE sets the number of documents (10,000). The processor time of the goroutine says more than the
// time of the clock where other work goes on.
func BenchmarkOrdered(b *testing.B) {
	store, err := badger.Open(b.TempDir(), badger.Options{Durability: badger.Relaxed})
	if err != nil {
		b.Fatal(err)
	}
	declared := strings.Replace(itemTypes, "schemas: [item]}", "schemas: [item], indexes: [{columns: [status, rank desc], include: [priority]}]}", 1)
	w := newWorld(b, withTypes(b, declared), func(c *storage.Config) { c.DB, c.NewID = kv.New(store, kv.Options{}), nil })
	w.many(benchScale(b), func(i int) (string, string, string, storage.Props) {
		r := uint32(i) * 2654435761
		return "/default-domain/workspaces", fmt.Sprint("d", i), "Item", storage.Props{
			"dc:title": fmt.Sprint("Item ", i), "dc:description": "a description of some length, as people write them",
			"item:status": []string{"draft", "open", "approved", "paid"}[r>>8%4], "item:priority": int64(r >> 12 % 10), "item:rank": int64(r >> 4),
		}
	})
	const filtered = "WHERE item:status = 'approved' AND item:priority >= 5 ORDER BY item:rank DESC"
	for _, q := range []struct {
		name, src string
		count     int
	}{
		{"order", "SELECT * FROM Item ORDER BY item:rank DESC", -1},
		{"nulls", "SELECT * FROM Item ORDER BY dc:source", -1},
		{"indexForQuery", "SELECT * FROM Item " + filtered, -1},
		{"indexForQueryWithTotal", "SELECT * FROM Item " + filtered, 1000},
		{"indexForEach", "SELECT * FROM Document " + filtered, -1},
		{"indexForEachWithTotal", "SELECT * FROM Document " + filtered, 1000},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			bob := user("bob")
			took := growth.Measure(func() {
				for b.Loop() {
					w.view(bob, func(t *storage.Tx) error {
						p, err := search.Query(t, q.src, search.Options{PageOptions: storage.PageOptions{Limit: 50, CountLimit: q.count}})
						if err == nil && len(p.Docs) != 50 {
							b.Fatalf("%d documents", len(p.Docs))
						}
						return err
					})
				}
			})
			b.ReportMetric(float64(took.Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

package storage_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"catena/storage"
	"catena/storage/badger"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/search"
)

// queryWorld holds files with a source that tells them apart and a creator many share;
// CATENA_BENCH_DOCS sets how many (10,000).
func queryWorld(b *testing.B, store kv.Store) (w *world, docs int) {
	docs = 10_000
	if s := os.Getenv("CATENA_BENCH_DOCS"); s != "" {
		docs, _ = strconv.Atoi(s)
	}
	w = newWorld(b, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) })
	w.make("/default-domain/workspaces/bench", "Folder", nil)
	for from := 0; from < docs; from += 1000 {
		w.update(w.System(), func(t *storage.Tx) error {
			for i := from; i < min(docs, from+1000); i++ {
				err := mk(t, fmt.Sprintf("/default-domain/workspaces/bench/d%d", i), "File", storage.Props{
					"dc:title": fmt.Sprintf("Title %d", i), "dc:source": fmt.Sprintf("s%08d", i),
					"dc:coverage": fmt.Sprint("c", i%20), "dc:description": "a description of some length",
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return w, docs
}

func BenchmarkQuery(b *testing.B) {
	for _, engine := range []string{"memory", "badger"} {
		store := memory.New()
		if engine == "badger" {
			var err error
			if store, err = badger.Open(b.TempDir(), badger.Options{Durability: badger.Relaxed}); err != nil {
				b.Fatal(err)
			}
		}
		w, docs := queryWorld(b, store)
		for _, q := range []struct {
			name, src string
			count     int
		}{
			{"range", "SELECT * FROM File WHERE dc:source >= 's%08d' ORDER BY dc:source", -1},
			{"rangeWithTotal", "SELECT * FROM File WHERE dc:source >= 's%08d' ORDER BY dc:source", 1000},
			{"equalAndOrder", "SELECT * FROM File WHERE dc:coverage = 'c1' AND ecm:isTrashed = 0 ORDER BY dc:modified DESC", -1},
			{"equalAndOrderWithTotal", "SELECT * FROM File WHERE dc:coverage = 'c1' AND ecm:isTrashed = 0 ORDER BY dc:title", 1000},
			{"latest", "SELECT * FROM File WHERE ecm:isTrashed = 0 ORDER BY dc:modified DESC", 1000},
			{"below", "SELECT * FROM File WHERE ecm:path STARTSWITH '/default-domain/workspaces' AND ecm:isVersion = 0 ORDER BY dc:title", 1000},
			{"inTheOrderOfPaths", "SELECT * FROM File WHERE ecm:isVersion = 0 ORDER BY ecm:path", -1},
		} {
			b.Run(engine+"/"+q.name, func(b *testing.B) {
				b.ReportAllocs()
				bob, i := user("bob"), 0
				for b.Loop() {
					src := q.src
					if q.name[:5] == "range" {
						src = fmt.Sprintf(q.src, i*7919%(docs-1100))
					}
					i++
					w.view(bob, func(t *storage.Tx) error {
						p, err := search.Query(t, src, search.Options{PageOptions: storage.PageOptions{Limit: 50, CountLimit: q.count}})
						if err == nil && len(p.Docs) != 50 {
							b.Fatalf("%d documents", len(p.Docs))
						}
						return err
					})
				}
			})
		}
	}
}

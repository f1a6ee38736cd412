package chains_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"catena/chains"
	"catena/engine"
	"catena/ops"
	"catena/storage"
	"catena/storage/badger"
	"catena/storage/kv"
	"catena/storage/storagetest"
)

const eachOfRows = `name: Bench.Each
params: [{name: rows, type: list}]
steps:
  - each: rows
    most: 10000
    item: row
    steps:
      - op: Document.Fetch
        params: {value: /into}
      - op: Document.Create
        params: {type: File, name: "@{row.name}", properties: {"dc:title": "@{row.title}", "dc:description": "@{row.text}"}}
  - return: done
`

// BenchmarkEachOfMany compares a chain that makes a document of each of 10,000 rows, in one transaction, with a bulk load of the same rows in
// transactions of 500, as the loader makes them, both on Badger. It reports documents per second, and how the chain compares.
func BenchmarkEachOfMany(b *testing.B) {
	const n = 10_000
	var spent [2]time.Duration
	for b.Loop() {
		for arm := range spent {
			b.StopTimer()
			e, repo := benchEngine(b)
			rows := make([]any, n)
			for i := range rows {
				rows[i] = map[string]any{"name": fmt.Sprintf("d%05d", i), "title": fmt.Sprintf("Document %d", i), "text": "made of a row"}
			}
			run := func(op string, in any, params map[string]any) {
				if _, err := e.Run(context.Background(), engine.Call{Op: op, Input: in, Params: params, As: repo.System()}); err != nil {
					b.Fatal(err)
				}
			}
			run("Document.Create", storage.Ref("/"), map[string]any{"type": "Folder", "name": "into"})
			run("Chain.Save", nil, map[string]any{"source": eachOfRows})
			b.StartTimer()
			began := time.Now()
			if arm == 0 {
				run("Bench.Each", nil, map[string]any{"rows": rows})
			} else {
				for from := 0; from < n; from += 500 {
					records := make([]any, 500)
					for i, row := range rows[from : from+500] {
						r := row.(map[string]any)
						records[i] = map[string]any{"name": r["name"], "properties": map[string]any{"dc:title": r["title"], "dc:description": r["text"]}}
					}
					run("Bulk.Load", nil, map[string]any{"records": records, "into": "/into"})
				}
			}
			spent[arm] += time.Since(began)
		}
	}
	per := func(d time.Duration) float64 { return float64(n*b.N) / d.Seconds() }
	b.ReportMetric(per(spent[0]), "each/s")
	b.ReportMetric(per(spent[1]), "load/s")
	b.ReportMetric(per(spent[0])/per(spent[1]), "of-load")
}

// benchEngine is an engine with its chains on Badger.
func benchEngine(b *testing.B) (*engine.Engine, *storage.Repo) {
	b.Helper()
	db, err := badger.Open(b.TempDir(), badger.Options{Durability: badger.Relaxed})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	repo := storagetest.Open(b, func(c *storage.Config) { c.DB = kv.New(db, kv.Options{}) })
	kept := chains.New()
	set, err := engine.NewSet(append(ops.All(ops.Config{}), kept.Ops())...)
	if err != nil {
		b.Fatal(err)
	}
	return engine.New(engine.Config{Repo: repo, Set: set, Limits: engine.Limits{Time: 5 * time.Minute, Ops: 100_000}}), repo
}

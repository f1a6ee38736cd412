package storage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/kv"
	"catena/storage/memory"
)

// written is a store that keeps the last batch committed to it.
type written struct {
	kv.Store
	batch kv.Batch
}

type writtenSnapshot struct {
	kv.Snapshot
	of *written
}

func (w *written) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := w.Store.Begin(ctx, write)
	return writtenSnapshot{s, w}, err
}

func (s writtenSnapshot) Commit(ctx context.Context, b *kv.Batch) error {
	s.of.batch = *b
	return s.Snapshot.Commit(ctx, b)
}

// BenchmarkRows reports how many rows a new document of 1 KB takes, and how many bytes these have. With -v
// it lists them.
func BenchmarkRows(b *testing.B) {
	store := &written{Store: memory.New()}
	w := newWorld(b, func(c *storage.Config) { c.DB, c.NewID = kv.New(store, kv.Options{}), nil })
	w.make("/ws", "Workspace", nil)
	n := 0
	for b.Loop() {
		n++
		w.make(fmt.Sprint("/ws/doc", n), "File", storage.Props{
			"dc:title": "a title", "dc:description": strings.Repeat("lorem ipsum ", 60), "dc:source": "bench", "dc:language": "en",
		})
	}
	bytes := 0
	for _, row := range store.batch.Writes {
		bytes += len(row.Key) + len(row.Value)
		if testing.Verbose() {
			b.Logf("%3d + %3d %q %q", len(row.Key), len(row.Value), row.Key, row.Value)
		}
	}
	b.ReportAllocs()
	b.ReportMetric(float64(len(store.batch.Writes)), "rows/doc")
	b.ReportMetric(float64(bytes), "row-B/doc")
}

package engine_test

import (
	"strings"
	"testing"

	"catena/engine"
	"catena/storage"
	"catena/storage/people"
	"catena/storage/search"
	"catena/storage/storagetest"
)

// TestSize: what a result leads to counts, wherever it is.
func TestSize(t *testing.T) {
	w := storagetest.NewWorld(t)
	text := strings.Repeat("x", 10_000)
	var d *storage.Doc
	w.Write(w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err == nil {
			d, err = tx.Create(root, "Note", "n", storage.Props{"note:note": text})
		}
		return err
	})
	w.Read(w.System(), func(tx *storage.Tx) (err error) {
		d, err = tx.Doc("/n")
		return err
	})
	circle := map[string]any{"text": text}
	circle["self"] = circle
	for _, x := range []struct {
		name        string
		r           engine.Result
		least, most int64
	}{
		{"nothing", engine.Result{}, 0, 0},
		{"text", engine.Result{Value: text}, 10_000, 10_000},
		{"number", engine.Result{Value: 7}, 0, 100},
		{"list", engine.Result{Value: []any{text, text, nil}}, 20_000, 20_100},
		{"map", engine.Result{Value: map[string]any{"a": map[string]any{"b": text}}}, 10_000, 10_100},
		{"document", engine.Result{Value: d}, 10_000, 12_000},
		{"input", engine.Result{Input: storage.Docs{d, d}}, 20_000, 24_000},
		{"page", engine.Result{Value: &storage.Page{Docs: storage.Docs{d}}}, 10_000, 12_500},
		{"rows", engine.Result{Value: &search.Rows{Entries: []map[string]any{{"a": text}}}}, 10_000, 10_600},
		{"users", engine.Result{Value: []*people.User{{Description: text}}}, 10_000, 10_600},
		{"value", engine.Result{Value: engine.Value{V: text}}, 10_000, 10_100},
		{"answer", engine.Result{Body: []byte(text)}, 10_000, 10_000},
		{"circle", engine.Result{Value: circle}, 10_000, 2_000_000},
	} {
		if got := x.r.Size(); got < x.least || got > x.most {
			t.Errorf("%s: %d, want %d to %d", x.name, got, x.least, x.most)
		}
	}
}

package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/internal/row"
	"catena/storage/storagetest"
)

// TestAsk has nodes answer each other, one of them fail, and one not be there; nothing remains of it.
func TestAsk(t *testing.T) {
	w := storagetest.NewWorld(t)
	a, b, c := join(t, w, "a"), join(t, w, "b"), join(t, w, "c")
	ctx, stop := context.WithCancel(t.Context())
	var answering sync.WaitGroup
	for _, m := range []*cluster.Member{a, b, c} {
		answering.Go(func() {
			if err := m.Answer(ctx, cluster.Answers{
				"length": func(_ context.Context, raw json.RawMessage) (any, error) {
					var text string
					if err := json.Unmarshal(raw, &text); err != nil {
						return nil, err
					}
					if text == m.ID() {
						return nil, errors.New("about myself")
					}
					return len(text), nil
				},
				"huge": func(context.Context, json.RawMessage) (any, error) { return strings.Repeat("x", 5<<20), nil },
			}); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(answering.Wait)
	t.Cleanup(stop)
	asks := func(m *cluster.Member, name, q, want, wantSilent string) {
		t.Helper()
		all, silent, err := cluster.Ask[any](ctx, m, name, q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, node := range slices.Sorted(maps.Keys(all)) {
			v, err := json.Marshal(all[node])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, node+"="+string(v))
		}
		slices.Sort(silent)
		if text := strings.Join(got, " "); text != want || strings.Join(silent, " ") != wantSilent {
			t.Errorf("%s %s: %q, silent %q; want %q and %q", name, q, text, silent, want, wantSilent)
		}
	}
	for range 3 {
		asks(a, "length", "four", "b=4 c=4", "")
	}
	asks(b, "length", "c", "a=1", "c")
	asks(c, "color", "", "", "a b")
	asks(c, "huge", "", "", "a b")
	d := join(t, w, "d") // which does not answer
	began := time.Now()
	asks(a, "length", "four", "b=4 c=4", "d")
	if took := time.Since(began); took < cluster.AskTime || took > 3*cluster.AskTime {
		t.Errorf("waited %s", took)
	}
	asks(d, "length", "four", "a=4 b=4 c=4", "")
	if all, silent, err := cluster.Ask[any](ctx, nil, "length", "four"); all != nil || silent != nil || err != nil {
		t.Errorf("a store that is not shared: %v %v %v", all, silent, err)
	}
	w.Read(w.System(), func(tx *storage.Tx) error {
		for _, table := range []string{"questions", "answers"} {
			for key := range tx.Secret(row.Secret{Name: table}).Scan("", "", false, 0) {
				t.Errorf("%s: %s remains", table, key)
			}
		}
		return tx.Err()
	})
}

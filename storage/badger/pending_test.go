package badger

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"catena/storage/kv"
)

// TestPending compares reads of a snapshot whose newest runs Badger does not have
// with a model.
func TestPending(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := open(t, t.TempDir(), Relaxed)
		model := map[string]string{}
		random := func() string { return fmt.Sprintf("%02d", r.IntN(40)) }
		err := kv.New(s, kv.Options{}).Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("zz"), nil) })
		if err != nil {
			t.Fatal(err)
		}
		write := func(b *kv.Batch) {
			for _, key := range sortedKeys(r.IntN(12), random) {
				m := kv.Mutation{Key: []byte(key)}
				if delete(model, key); r.IntN(3) > 0 {
					model[key] = fmt.Sprint(r.Uint32())
					m.Value = []byte(model[key])
				}
				b.Writes = append(b.Writes, m)
			}
		}
		delete(model, "zz")
		base := &kv.Batch{}
		write(base)
		if err := s.commit(ctx, s.history.Published(), base); err != nil {
			t.Fatal(err)
		}
		snap, err := s.Begin(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		x := snap.(*snapshot)
		for range r.IntN(5) {
			g := &group{}
			for range 1 + r.IntN(3) {
				b := &kv.Batch{}
				write(b)
				g.requests = append(g.requests, &request{batch: b})
			}
			x.runs = append(x.runs, g.run(s.hot.seed))
		}
		for range 50 {
			checkPending(t, x, model, kv.Range{Start: []byte(random()), End: []byte(random()), Reverse: r.IntN(2) == 0, Limit: r.IntN(5), KeysOnly: r.IntN(2) == 0})
		}
		checkPending(t, x, model, kv.Range{Start: []byte("0"), End: []byte("9")})
		snap.Discard()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// sortedKeys makes n keys, fewer if some are the same.
func sortedKeys(n int, random func() string) []string {
	keys := map[string]bool{}
	for range n {
		keys[random()] = true
	}
	return slices.Sorted(maps.Keys(keys))
}

func checkPending(t *testing.T, s *snapshot, model map[string]string, r kv.Range) {
	t.Helper()
	var want, got []string
	for _, k := range slices.Sorted(maps.Keys(model)) {
		v, err := s.Get([]byte(k))
		if err != nil || string(v) != model[k] {
			t.Fatalf("key %s holds %q, %v, want %q", k, v, err, model[k])
		}
		if k < string(r.Start) || k >= string(r.End) {
			continue
		}
		if r.KeysOnly {
			want = append(want, k+"=")
		} else {
			want = append(want, k+"="+model[k])
		}
	}
	if r.Reverse {
		slices.Reverse(want)
	}
	if r.Limit > 0 {
		want = want[:min(len(want), r.Limit)]
	}
	if bytes.Compare(r.Start, r.End) < 0 {
		c := s.Scan(r)
		for c.Next() {
			v, err := c.Value()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(c.Key())+"="+string(v))
		}
		c.Close()
		if err := c.Err(); err != nil || !slices.Equal(got, want) {
			t.Fatalf("range %q to %q: %v %q, want %q", r.Start, r.End, err, got, want)
		}
	}
	for k := range 40 {
		key := fmt.Sprintf("%02d", k)
		if v, err := s.Get([]byte(key)); err != nil || (v != nil) != (model[key] != "") {
			t.Fatalf("key %s holds %q, %v", key, v, err)
		}
	}
}

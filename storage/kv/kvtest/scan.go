package kvtest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"catena/storage/kv"
)

// model is what a store must agree with.
type model map[string]string

func (m model) rows(r kv.Range) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		if k >= string(r.Start) && (r.End == nil || k < string(r.End)) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	if r.Reverse {
		slices.Reverse(keys)
	}
	if r.Limit > 0 && len(keys) > r.Limit {
		keys = keys[:r.Limit]
	}
	var out []byte
	for _, k := range keys {
		if r.KeysOnly {
			out = fmt.Appendf(out, "%s= ", k)
		} else {
			out = fmt.Appendf(out, "%s=%s ", k, m[k])
		}
	}
	return string(out)
}

func randomRange(r *rand.Rand, key func() string) kv.Range {
	rg := kv.Range{Start: []byte(key()), Reverse: r.IntN(2) == 0, KeysOnly: r.IntN(3) == 0}
	if r.IntN(4) > 0 {
		rg.End = []byte(key())
	}
	if r.IntN(4) == 0 {
		rg.Start = nil
	}
	if r.IntN(2) == 0 {
		rg.Limit = 1 + r.IntN(12)
	}
	return rg
}

// testScanModel changes a store at random and compares scans, within transactions
// that have written already, with a model.
func testScanModel(t *testing.T, d *kv.DB) {
	r := rand.New(rand.NewPCG(1, 2))
	m := model{}
	for round := range 120 {
		trial := maps.Clone(m)
		fail := r.IntN(5) == 0
		err := d.Update(ctx, func(tx *kv.Tx) error {
			for i := range r.IntN(30) {
				if err := randomStep(t, r, tx, trial, fmt.Sprintf("%d.%d", round, i)); err != nil {
					return err
				}
			}
			if fail {
				return errStop
			}
			return nil
		})
		switch {
		case err == nil:
			m = trial
		case !errors.Is(err, errStop):
			t.Fatal(err)
		}
		if err := d.View(ctx, func(tx *kv.Tx) error {
			for range 4 {
				if err := checkScan(t, tx, m, randomRange(r, func() string { return randomKey(r) })); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// randomStep sets a key to v, deletes one, or compares a scan, in the store and in the model.
func randomStep(t *testing.T, r *rand.Rand, tx *kv.Tx, m model, v string) error {
	k := randomKey(r)
	switch r.IntN(5) {
	case 0, 1, 2:
		m[k] = v
		return tx.Set([]byte(k), []byte(v))
	case 3:
		delete(m, k)
		return tx.Delete([]byte(k))
	default:
		return checkScan(t, tx, m, randomRange(r, func() string { return randomKey(r) }))
	}
}

// randomKey is one of few keys, some of which are followed immediately by another one.
func randomKey(r *rand.Rand) string {
	k := fmt.Sprintf("%03d", r.IntN(300))
	if r.IntN(5) == 0 {
		k += "\x00"
	}
	return k
}

func checkScan(t *testing.T, tx *kv.Tx, m model, r kv.Range) error {
	t.Helper()
	got, err := dump(tx, r)
	if want := m.rows(r); err == nil && got != want {
		t.Fatalf("scan %+v:\ngot  %s\nwant %s", r, got, want)
	}
	return err
}

// testScanWhileWriting writes to the rows a scan walks: the walk sees the state at
// its beginning.
func testScanWhileWriting(t *testing.T, d *kv.DB) {
	put(t, d, "a", "1", "b", "2", "c", "3")
	update(t, d, func(tx *kv.Tx) error {
		_ = tx.Set([]byte("bb"), []byte("own"))
		scan := tx.Scan(kv.Range{})
		_ = tx.Set([]byte("d"), []byte("before the walk"))
		var got []byte
		for row, err := range scan {
			if err != nil {
				return err
			}
			got = fmt.Appendf(got, "%s=%s ", row.Key, row.Value)
			_ = tx.Delete(row.Key)
			_ = tx.Set(append(bytes.Clone(row.Key), 'x'), nil)
			_ = tx.Set([]byte("zz"), nil)
		}
		want(t, "walk", string(got), "a=1 b=2 bb=own c=3 d=before the walk ")
		all, err := dump(tx, kv.Range{Reverse: true})
		want(t, "afterwards", all, "zz= dx= cx= bx= bbx= ax= ")
		return err
	})
	if err := d.View(ctx, func(tx *kv.Tx) error {
		var kept [][]byte
		for row, err := range tx.Scan(kv.Range{}) {
			if err != nil {
				return err
			}
			kept = append(kept, row.Key)
		}
		want(t, "rows outlive the walk", string(bytes.Join(kept, []byte(" "))), "ax bbx bx cx dx zz")
		empty, err := dump(tx, kv.Range{Start: []byte("c"), End: []byte("b")})
		want(t, "crossed bounds", empty, "")
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func testCount(t *testing.T, d *kv.DB) {
	put(t, d, "a", "1", "b", "2", "c", "3")
	update(t, d, func(tx *kv.Tx) error {
		_ = tx.Set([]byte("d"), nil)
		_ = tx.Delete([]byte("a"))
		for _, tt := range []struct {
			r    kv.Range
			max  int
			n    int
			more bool
		}{
			{kv.Range{}, 10, 3, false},
			{kv.Range{}, 3, 3, false},
			{kv.Range{}, 2, 2, true},
			{kv.Range{}, 0, 0, true},
			{kv.Range{Limit: 2}, 10, 2, false},
			{kv.Range{Start: []byte("c")}, 1, 1, true},
			{kv.Range{Start: []byte("x")}, 0, 0, false},
		} {
			n, more, err := tx.Count(tt.r, tt.max)
			if err != nil || n != tt.n || more != tt.more {
				t.Errorf("count %+v max %d: %d %v %v", tt.r, tt.max, n, more, err)
			}
		}
		return nil
	})
}

package tree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// model is what the tree must agree with.
type model map[string]int

func (m model) keys(start, end string, reverse bool) []string {
	var out []string
	for k := range m {
		if k >= start && (end == "" || k < end) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	if reverse {
		slices.Reverse(out)
	}
	return out
}

func walk(t *Tree[int], start, end string, reverse bool) []string {
	var e []byte
	if end != "" {
		e = []byte(end)
	}
	var out []string
	for c := t.Range([]byte(start), e, reverse); c.Next(); {
		out = append(out, string(c.Key()))
	}
	return out
}

func TestModel(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		space := 1 << (2 + r.IntN(12))
		key := func() string { return fmt.Sprintf("%05d", r.IntN(space)) }
		var tr, old Tree[int]
		m, was := model{}, model{}
		for i := range 6000 {
			k := key()
			switch n := r.IntN(10); {
			case n < 5 || n == 5 && i < 3000:
				_, had := tr.Set([]byte(k), i)
				if _, want := m[k]; had != want {
					t.Fatalf("seed %d: set %s: had %v", seed, k, had)
				}
				m[k] = i
			case n < 9:
				if _, want := m[k]; tr.Delete([]byte(k)) != want {
					t.Fatalf("seed %d: delete %s: want %v", seed, k, want)
				}
				delete(m, k)
			case i%20 == 0:
				old = tr.Snapshot()
				was = model{}
				for k, v := range m {
					was[k] = v
				}
			}
			if v, ok := tr.Get([]byte(k)); ok != (m[k] != 0 || has(m, k)) || v != m[k] {
				t.Fatalf("seed %d: get %s = %d %v", seed, k, v, ok)
			}
			if i%200 == 0 {
				lo, hi := key(), key()
				for _, rev := range []bool{false, true} {
					compare(t, walk(&tr, lo, hi, rev), m.keys(lo, hi, rev))
					compare(t, walk(&tr, "", "", rev), m.keys("", "", rev))
					compare(t, walk(&old, lo, "", rev), was.keys(lo, "", rev))
				}
				if tr.Len() != len(m) || old.Len() != len(was) {
					t.Fatalf("seed %d: len %d, want %d", seed, tr.Len(), len(m))
				}
			}
		}
	}
}

func has(m model, k string) bool { _, ok := m[k]; return ok }

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got %d keys %.200v\nwant %d keys %.200v", len(got), got, len(want), want)
	}
}

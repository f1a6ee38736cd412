package kvtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"catena/storage/kv"
)

// testHistories runs random transactions side by side and replays those that
// committed, in commit order, on a model: every read must have returned what the
// model holds.
func testHistories(t *testing.T, nodes ...*kv.DB) {
	const order = "~order"
	var mu sync.Mutex
	var log []history
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 4))
			for i := range 40 {
				var h history
				seed := r.Uint64()
				err := nodes[w%len(nodes)].Update(ctx, func(tx *kv.Tx) error {
					h = history{}
					return h.play(tx, rand.New(rand.NewPCG(seed, 1)), fmt.Sprintf("%d.%d", w, i))
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				log = append(log, h)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	// Every transaction increments one counter, which tells their order; reads of
	// other keys are not implied by it and must agree with that order.
	slices.SortFunc(log, func(a, b history) int { return a.at - b.at })
	m := model{}
	for i, h := range log {
		if h.at != i {
			t.Fatalf("transaction %d has number %d", i, h.at)
		}
		for _, s := range h.steps {
			if s.write {
				m[s.key] = s.value
				continue
			}
			got := "-"
			if v, ok := m[s.key]; ok {
				got = v
			}
			if s.scan {
				got = m.rows(kv.Prefix([]byte(s.key)))
			}
			if got != s.value {
				t.Fatalf("transaction %d read %s: %q, in order it is %q", i, s.key, s.value, got)
			}
		}
	}
	want(t, order, get(t, nodes[0], order), strconv.Itoa(len(log)))
}

type history struct {
	at    int
	steps []historyStep
}

type historyStep struct {
	key, value  string
	write, scan bool
}

// play reads and writes at random and notes what it saw. The last step takes a number from a counter, which gives the order in which
// the transactions must appear to have run.
func (h *history) play(tx *kv.Tx, r *rand.Rand, tag string) error {
	for i := range 2 + r.IntN(5) {
		s := historyStep{key: fmt.Sprintf("%d%d", r.IntN(4), r.IntN(4))}
		switch r.IntN(4) {
		case 0:
			s.write, s.value = true, fmt.Sprintf("%s.%d", tag, i)
			if err := tx.Set([]byte(s.key), []byte(s.value)); err != nil {
				return err
			}
		case 1:
			s.scan, s.key = true, s.key[:1]
			rows, err := dump(tx, kv.Prefix([]byte(s.key)))
			if err != nil {
				return err
			}
			s.value = rows
		default:
			v, err := tx.Get([]byte(s.key))
			if err != nil {
				return err
			}
			s.value = text(v)
		}
		h.steps = append(h.steps, s)
	}
	v, err := tx.Get([]byte("~order"))
	if err != nil {
		return err
	}
	h.at, _ = strconv.Atoi(string(v))
	return tx.Set([]byte("~order"), strconv.AppendInt(nil, int64(h.at+1), 10))
}

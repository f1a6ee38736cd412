package kvtest

import (
	"cmp"
	"fmt"
	"sync"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
)

// RunNodes plays what two processes observe of each other that have the same store open. Open returns it empty, opened
// twice; RunNodes closes both.
func RunNodes(t *testing.T, open func(t *testing.T) (a, b kv.Store)) {
	tests := []struct {
		name string
		test func(t *testing.T, a, b *kv.DB)
	}{
		{"Claims", testClaims},
		{"Contention", func(t *testing.T, a, b *kv.DB) { testContention(t, a, b) }},
		{"CreateRace", func(t *testing.T, a, b *kv.DB) { testCreateRace(t, a, b) }},
		{"Histories", func(t *testing.T, a, b *kv.DB) { testHistories(t, a, b) }},
		{"Sequences", testSequencesOfNodes},
		{"Serializable", func(t *testing.T, a, b *kv.DB) { testSerializable(t, a, b) }},
		{"Skew", testSkewOfNodes},
		{"Stamps", testStamps},
		{"Visible", testVisible},
		{"Watch", testWatchNodes},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := open(t)
			da, db := kv.New(a, kv.Options{}), kv.New(b, kv.Options{})
			tt.test(t, da, db)
			for _, d := range []*kv.DB{da, db} {
				if err := d.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}
		})
	}
}

// testClaims has both nodes claim the same keys without looking: each key is given once, and who comes second runs again and
// finds it taken by a look outside of the transaction.
func testClaims(t *testing.T, a, b *kv.DB) {
	for round := range 20 {
		name := fmt.Sprint("name ", round)
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				d, own, again := a, fmt.Sprint(name, " by ", i), false
				if i%2 == 1 {
					d = b
				}
				err := d.Update(ctx, func(tx *kv.Tx) error {
					key := name
					if again {
						if v, err := tx.Latest([]byte(name)); err != nil {
							return err
						} else if v != nil {
							key = own
						}
					}
					again = true
					return tx.Claim([]byte(key), []byte(own))
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		first := get(t, a, name)
		for i := range 6 {
			own := fmt.Sprint(name, " by ", i)
			if got := get(t, b, own); (got == own) == (first == own) {
				t.Errorf("%s: %q has it, and %q its own", name, first, got)
			}
		}
	}
	testClaimsAlone(t, a)
}

// testClaimsAlone is what a transaction sees of its own claims, and what becomes of those that it gives up.
func testClaimsAlone(t *testing.T, d *kv.DB) {
	put(t, d, "taken", "before")
	runs := 0
	err := d.Update(ctx, func(tx *kv.Tx) error {
		if runs++; runs > 1 {
			return nil
		}
		return cmp.Or(tx.Claim([]byte("other"), nil), tx.Claim([]byte("taken"), []byte("mine")))
	})
	want(t, "what was there", get(t, d, "taken"), "before")
	if err != nil || runs != 2 {
		t.Errorf("a claim of what is there: %d runs, %v", runs, err)
	}
	err = d.Update(ctx, func(tx *kv.Tx) error {
		return cmp.Or(tx.Claim([]byte("new"), nil), tx.Create([]byte("taken"), []byte("mine")))
	})
	wantKind(t, "a creation beside a claim", err, fault.Exists)
	update(t, d, func(tx *kv.Tx) error {
		if _, written := tx.Buffered([]byte("taken")); written {
			t.Error("a key that the transaction has not written is buffered")
		}
		err := cmp.Or(tx.Claim([]byte("taken"), nil), tx.Delete([]byte("taken"))) // given up: nothing is left to refuse
		if v, written := tx.Buffered([]byte("taken")); v != nil || !written {
			t.Errorf("a claim that was given up: %q, %v", v, written)
		}
		return cmp.Or(err, tx.Claim([]byte("fresh"), []byte("first")), tx.Set([]byte("fresh"), []byte("second")))
	})
	want(t, "a claim that was given up", get(t, d, "taken"), "before")
	want(t, "a claim that was written again", get(t, d, "fresh"), "second")
	update(t, d, func(tx *kv.Tx) error { // moved away, and another one put there
		return cmp.Or(tx.Delete([]byte("taken")), tx.Claim([]byte("taken"), []byte("after")))
	})
	want(t, "a claim of what was deleted", get(t, d, "taken"), "after")
}

// testVisible alternates between nodes: each sees at once what the other has committed, and a snapshot stays as it is.
func testVisible(t *testing.T, a, b *kv.DB) {
	for i := range 50 {
		value := fmt.Sprint(i)
		put(t, a, "x", value)
		want(t, "on the other node", get(t, b, "x"), value)
		a, b = b, a
	}
	if err := a.View(ctx, func(tx *kv.Tx) error {
		before, err := tx.Get([]byte("x"))
		if err != nil {
			return err
		}
		put(t, b, "x", "later", "y", "later")
		again, err := tx.Get([]byte("x"))
		want(t, "read again", text(again), text(before))
		rows, err2 := dump(tx, kv.Range{})
		want(t, "rows", rows, "x="+text(before)+" ")
		if err == nil {
			err = err2
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// testStamps follows rows that are numbered by stamps on both nodes, as who keeps a copy does: it reads those from the
// number on up to which it knows all, and misses none.
func testStamps(t *testing.T, a, b *kv.DB) {
	const writers, each = 6, 60
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				if err := [2]*kv.DB{a, b}[w%2].Update(ctx, func(tx *kv.Tx) error {
					for range 3 {
						n, err := tx.Stamp()
						if err != nil {
							return err
						}
						if err := tx.Create(fmt.Appendf(nil, "s%020d", n), nil); err != nil {
							return err
						}
					}
					if i%7 == 0 {
						time.Sleep(time.Millisecond) // it commits behind others
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	seen, from, last := 0, uint64(0), false
	for !last {
		select {
		case <-done:
			last = true
		default:
		}
		if err := a.View(ctx, func(tx *kv.Tx) error {
			to, err := tx.Settled()
			if err != nil {
				return err
			}
			n, _, err := tx.Count(kv.Range{Start: fmt.Appendf(nil, "s%020d", from), End: fmt.Appendf(nil, "s%020d", to)}, 1<<20)
			if to < from {
				t.Errorf("settled up to %d after %d", to, from)
			}
			seen, from = seen+n, to
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if seen != writers*each*3 {
		t.Errorf("%d rows, want %d", seen, writers*each*3)
	}
}

// testSkewOfNodes has a transaction of each node read what the other writes.
func testSkewOfNodes(t *testing.T, a, b *kv.DB) {
	for i := range 20 {
		x, y := fmt.Appendf(nil, "%d/x", i), fmt.Appendf(nil, "%d/y", i)
		runs := 0
		update(t, a, func(tx *kv.Tx) error {
			runs++
			v, err := tx.Get(y)
			if err != nil {
				return err
			}
			if runs == 1 {
				update(t, b, func(tx *kv.Tx) error {
					if v, err := tx.Get(x); v != nil || err != nil {
						return err
					}
					return tx.Set(y, []byte("b"))
				})
			}
			if v != nil {
				return nil
			}
			return tx.Set(x, []byte("a"))
		})
		want(t, "one of two", get(t, a, string(x))+get(t, a, string(y)), "-b")
	}
}

func testSequencesOfNodes(t *testing.T, a, b *kv.DB) {
	var mu sync.Mutex
	seen := map[int64]bool{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				n, err := [2]*kv.DB{a, b}[i%2].Next(ctx, "ids")
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if seen[n] {
					t.Errorf("%d came twice", n)
				}
				seen[n] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// testWatchNodes waits on one node for what is written on the other. A wake-up may be lost, but not all of them.
func testWatchNodes(t *testing.T, a, b *kv.DB) {
	woken, stop := b.Watch("topic")
	defer stop()
	other, stopOther := b.Watch("other")
	defer stopOther()
	deadline := time.Now().Add(20 * time.Second)
	for i := 0; ; i++ {
		value := fmt.Sprint(i)
		update(t, a, func(tx *kv.Tx) error { tx.Wake("topic"); return tx.Set([]byte("a"), []byte(value)) })
		select {
		case <-woken:
			want(t, "seen by the woken", get(t, b, "a"), value)
			select {
			case <-other:
				t.Error("woken by another topic")
			default:
			}
			return
		case <-time.After(time.Second):
			if time.Now().After(deadline) {
				t.Fatal("never woken by the other node")
			}
		}
	}
}

package badger

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"catena/storage/kv"
)

// TestRowCache: each snapshot sees its own value of a small row, whatever is kept of it.
func TestRowCache(t *testing.T) {
	s := open(t, t.TempDir(), Relaxed)
	key := []byte("key")
	view := func() *snapshot {
		t.Helper()
		v, err := s.begin(false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Discard)
		return v
	}
	applied := func() *snapshot { // a snapshot with nothing that Badger does not have
		t.Helper()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			if v := view(); len(v.runs) == 0 {
				return v
			} else if time.Now().After(end) {
				t.Fatal("what was committed is not applied")
			}
		}
	}
	read := func(v *snapshot, want string) {
		t.Helper()
		if got, err := v.Get(key); err != nil || string(got) != want {
			t.Errorf("got %q %v, want %q", got, err, want)
		}
	}
	kept := func(v *snapshot) string { return string(s.rows.get(key, s.hot.hash(key), v.mark.Version)) }
	mustCommit(t, s, kv.Mutation{Key: key, Value: []byte("one")})
	one := applied()
	read(one, "one")
	if got := kept(one); got != "one" {
		t.Errorf("%q is kept of a row that was read", got)
	}
	mustCommit(t, s, kv.Mutation{Key: key, Value: []byte("two")})
	two := applied()
	if got := kept(two); got != "" {
		t.Errorf("%q is kept although it was overwritten", got)
	}
	read(one, "one")
	s.rows.put(key, []byte("one"), s.hot.hash(key), one.mark.Version)
	if got := kept(two); got != "" {
		t.Errorf("%q is kept that an old snapshot read", got)
	}
	read(two, "two")
	s.rows.put(key, []byte("two"), s.hot.hash(key), two.mark.Version)
	if got, old := kept(two), kept(one); got != "two" || old != "" {
		t.Errorf("%q is kept of the new version, which an older snapshot sees as %q", got, old)
	}
	read(one, "one")
	mustCommit(t, s, kv.Mutation{Key: key})
	gone := applied()
	read(gone, "")
	mustCommit(t, s, kv.Mutation{Key: key, Value: []byte("three"), Create: true})
	read(applied(), "three")
	read(gone, "")
	read(two, "two")
	read(one, "one")
}

// TestRowCacheBound puts more rows than there is room for: some are forgotten, none is wrong, and those that there is room for are
// all there.
func TestRowCacheBound(t *testing.T) {
	for _, many := range []int{1, 500, rowShards * mostRows / 4, rowShards * mostRows * 2} {
		s := store{hot: hot{seed: maphash.MakeSeed()}}
		key := func(i int) []byte { return fmt.Appendf(nil, "key %d", i) }
		value := func(i int) []byte { return fmt.Appendf(nil, "value %d", i) }
		for i := range many {
			s.rows.put(key(i), value(i), s.hot.hash(key(i)), 1)
		}
		found, spots := 0, 0
		for i := range many {
			switch got := s.rows.get(key(i), s.hot.hash(key(i)), 1); {
			case bytes.Equal(got, value(i)):
				found++
			case got != nil:
				t.Fatalf("row %d is %q", i, got)
			}
		}
		for i := range s.rows.shards {
			spots += len(s.rows.shards[i].rows)
		}
		if want := min(many, rowShards*mostRows); found < want*19/20 || spots > rowShards*mostRows {
			t.Errorf("%d of %d rows are found, in %d spots", found, many, spots)
		}
	}
}

// TestRowCacheRaces compares what snapshots read with what the tables have for them, while others write: rows are
// overwritten, removed and created again.
func TestRowCacheRaces(t *testing.T) {
	const keys, commits = 40, 1500
	s := open(t, t.TempDir(), Relaxed)
	key := func(i int) []byte { return fmt.Appendf(nil, "row %d", i) }
	done := make(chan struct{})
	var readers sync.WaitGroup
	for n := range 3 {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			for {
				select {
				case <-done:
					return
				default:
				}
				v, err := s.begin(false)
				if err != nil {
					t.Error(err)
					return
				}
				for range 20 {
					compareRead(t, v, key(r.IntN(keys)))
				}
				v.Discard()
			}
		})
	}
	r := rand.New(rand.NewPCG(7, 7))
	there := map[int]bool{}
	for n := range commits {
		i := r.IntN(keys)
		w := kv.Mutation{Key: key(i), Value: fmt.Appendf(nil, "value %d", n), Create: !there[i]}
		if there[i] && r.IntN(3) == 0 {
			w.Value = nil
		}
		there[i] = w.Value != nil
		mustCommit(t, s, w)
	}
	close(done)
	readers.Wait()
}

// compareRead reads a key as everybody does, and past what is kept.
func compareRead(t *testing.T, v *snapshot, key []byte) {
	got, err := v.Get(key)
	hash := v.s.hot.hash(key)
	var want []byte
	var failed error
	if m := v.pending(key, hash); m != nil {
		want = m.Value
	} else {
		want, failed = v.read(key, hash)
	}
	if err != nil || failed != nil || !bytes.Equal(got, want) {
		t.Errorf("%s at %d: got %q %v, want %q %v", key, v.mark.Version, got, err, want, failed)
	}
}

func mustCommit(t *testing.T, s *store, writes ...kv.Mutation) {
	t.Helper()
	w, err := s.begin(true)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	if err := w.Commit(ctx, &kv.Batch{Writes: writes}); err != nil {
		t.Fatal(err)
	}
}

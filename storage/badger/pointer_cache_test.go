package badger

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"catena/storage/badger/values"
	"catena/storage/kv"
)

// TestPlaces compares places with a map, over tags that meet at their homes and at the end of the table.
func TestPlaces(t *testing.T) {
	const seed = 3
	key := []byte("k")
	r := rand.New(rand.NewPCG(seed, 0))
	for _, tags := range []int{4, 40, 4000} {
		var p pointerCache
		model := map[uint64]spot{}
		for step := range 8000 {
			hash := uint64(r.IntN(tags)) * (math.MaxUint32 / uint64(tags))
			if step%3 == 0 {
				hash = math.MaxUint32 - uint64(r.IntN(tags))
			}
			at := values.Pointer{File: 1 + r.Uint32N(3), At: r.Uint32(), Size: r.Uint32()}
			version := r.Uint64N(100)
			switch r.IntN(4) {
			case 0:
				p.remove(key, hash)
				delete(model, hash)
			case 1:
				p.learn(key, hash, at, version, math.MaxUint64)
				if old, ok := model[hash]; !ok || old.version < version {
					model[hash] = spot{Pointer: at, version: version}
				}
			default:
				p.put(key, hash, at, version)
				model[hash] = spot{Pointer: at, version: version}
			}
			if step%197 > 0 {
				continue
			}
			for hash, want := range model {
				if got, ok := p.find(key, hash, want.version); !ok || got != want.Pointer {
					t.Fatalf("%d tags, step %d: %d is at %v %v, want %v", tags, step, hash, got, ok, want.Pointer)
				}
				if want.version > 0 {
					if _, ok := p.find(key, hash, want.version-1); ok {
						t.Fatalf("step %d: %d is found before it was written", step, hash)
					}
				}
			}
		}
		if p.shards[0].used != len(model) || len(model) == 0 {
			t.Errorf("%d tags: %d spots are taken, want %d", tags, p.shards[0].used, len(model))
		}
	}
}

// TestPlacesBound puts more places into a shard than it holds: some are forgotten, none is wrong.
func TestPlacesBound(t *testing.T) {
	const most = mostPointers / pointerShards
	var p pointerCache
	key := []byte("k")
	r := rand.New(rand.NewPCG(1, 0))
	hashes := make([]uint64, 3*most)
	place := func(i int) values.Pointer { return values.Pointer{File: 1, At: uint32(i)} }
	for i := range hashes {
		hashes[i] = uint64(r.Uint32())
		p.put(key, hashes[i], place(i), 1)
	}
	if s := &p.shards[0]; s.used != most || len(s.spots) > 2*most {
		t.Errorf("%d places in %d spots, want %d", s.used, len(s.spots), most)
	}
	found := 0
	for i, hash := range hashes {
		if at, ok := p.find(key, hash, 1); ok {
			found++
			if at != place(i) && hashes[at.At] != hash {
				t.Fatalf("place %d is %v", i, at)
			}
		}
	}
	if found < most*9/10 {
		t.Errorf("%d of %d places are found", found, most)
	}
}

// TestWarm opens a store, has the places be found, and reads values by them: also one that another key's place
// stands for, as it does when two have the same hash.
func TestWarm(t *testing.T) {
	const n = 3000
	dir := t.TempDir()
	s := open(t, dir, Relaxed)
	key := func(i int) []byte { return fmt.Appendf(nil, "key%04d", i) }
	value := func(i int) []byte { return bytes.Repeat(key(i), 100) }
	if err := kv.New(s, kv.Options{}).Update(ctx, func(tx *kv.Tx) error {
		for i := range n {
			if err := tx.Set(key(i), value(i)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Relaxed)
	defer s.Close()
	known := func() (c int) {
		for i := range n {
			if _, ok := s.pointers.find(key(i), s.hot.hash(key(i)), math.MaxUint64); ok {
				c++
			}
		}
		return c
	}
	if c := known(); c != 0 {
		t.Fatalf("%d places are known of a store just opened", c)
	}
	s.Warm(kv.Range{Start: key(n / 3)})
	s.Warm(kv.Range{End: key(n / 6)})
	for deadline := time.Now().Add(30 * time.Second); known() < n-n/6; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d places are known, want %d", known(), n-n/6)
		}
	}
	if c := known(); c != n-n/6 {
		t.Errorf("%d places are known, want %d", c, n-n/6)
	}
	other, _ := s.pointers.find(key(0), s.hot.hash(key(0)), math.MaxUint64)
	s.pointers.put(key(1), s.hot.hash(key(1)), other, 0)
	s.pointers.put(key(2), s.hot.hash(key(2)), values.Pointer{File: 99, Size: 5}, 0)
	s.pointers.put(key(3), s.hot.hash(key(3)), values.Pointer{File: other.File, At: math.MaxUint32, Size: math.MaxUint32}, 0)
	if err := kv.New(s, kv.Options{}).View(ctx, func(tx *kv.Tx) error {
		for i := range n {
			if got, err := tx.Get(key(i)); err != nil || !bytes.Equal(got, value(i)) {
				t.Fatalf("key %d is %.40q: %v", i, got, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if c := known(); c != n {
		t.Errorf("%d places are known once all were read, want %d", c, n)
	}
}

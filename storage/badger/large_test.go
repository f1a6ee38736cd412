package badger

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"catena/storage/kv"
)

// TestLargeValues writes, replaces and removes values of several sizes, most of them kept in files, and opens
// copies of the files as a machine that stops leaves them: what is read is what was written, and the files
// of values hold little else in the end.
func TestLargeValues(t *testing.T) {
	const seed, keys = 7, 60
	r := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	reopened := func() (*store, *kv.DB) {
		s := open(t, dir, Strict)
		s.values.Smallest = 100 << 10
		if r.IntN(2) == 0 {
			s.Warm(kv.Range{})
		}
		return s, kv.New(s, kv.Options{})
	}
	s, d := reopened()
	model := map[string][]byte{}
	sizes := []int{0, 100, inlineSize - 5, inlineSize - 4, inlineSize - 3, 5000, 9000, 20_000, 400 << 10, kv.Portable.Value}
	for round := range 200 {
		if err := d.Update(ctx, func(tx *kv.Tx) error {
			for range 1 + r.IntN(8) {
				key, size := fmt.Sprint("key", r.IntN(keys)), sizes[r.IntN(len(sizes)-2)]
				if r.IntN(50) == 0 {
					size = sizes[r.IntN(len(sizes))]
				}
				if r.IntN(5) == 0 {
					delete(model, key)
					if err := tx.Delete([]byte(key)); err != nil {
						return err
					}
					continue
				}
				model[key] = bytes.Repeat([]byte{byte(round)}, size)
				if err := tx.Set([]byte(key), model[key]); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		switch r.IntN(20) {
		case 0, 1, 2:
			s.pending.hurry()
		case 3:
			if err := s.flushTables(); err != nil {
				t.Fatal(err)
			}
		case 4:
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			s, d = reopened()
		case 5:
			killed := open(t, copyLive(t, s), Strict)
			if err := killed.Verify(ctx); err != nil {
				t.Fatalf("round %d, killed: %v", round, err)
			}
			checkRead(t, round, kv.New(killed, kv.Options{}), model)
			_ = killed.Close()
		}
		checkRead(t, round, d, model)
		checkPlaces(t, s)
	}
	for _, size := range []int{kv.Portable.Value, 1} { // what a small value takes the place of is counted later
		for i := range 6 {
			key := fmt.Sprint("key", i)
			model[key] = make([]byte, size)
			if err := d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte(key), model[key]) }); err != nil {
				t.Fatal(err)
			}
		}
		s.pending.hurry()
	}
	for key := range model {
		if err := d.Update(ctx, func(tx *kv.Tx) error { return tx.Delete([]byte(key)) }); err != nil {
			t.Fatal(err)
		}
	}
	clear(model)
	model["key"] = make([]byte, 400<<10)
	deadline := time.Now().Add(2 * time.Minute)
	for round := 0; ; round++ {
		if err := d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("key"), model["key"]) }); err != nil {
			t.Fatal(err)
		}
		if round%10 > 0 {
			continue
		}
		s.pending.hurry()
		if err := s.flushTables(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		size := valuesSize(t, s)
		if size < 3<<20 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d KiB of values for one of 400 KiB", size>>10)
		}
	}
	checkRead(t, -1, d, model)
	_ = d.Close()
	s, d = reopened()
	checkRead(t, -2, d, model)
	_ = s.Close()
}

// valuesSize is how much the files of values take.
func valuesSize(t *testing.T, s *store) (n int64) {
	t.Helper()
	entries, err := os.ReadDir(s.dir + "/" + valuesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// checkRead compares what is read, row by row and all together, with what was written.
func checkRead(t *testing.T, round int, d *kv.DB, model map[string][]byte) {
	t.Helper()
	if err := d.View(ctx, func(tx *kv.Tx) error {
		found := map[string][]byte{}
		for row, err := range tx.Scan(kv.Range{}) {
			if err != nil {
				return err
			}
			found[string(row.Key)] = row.Value
		}
		if !maps.EqualFunc(found, model, bytes.Equal) {
			t.Fatalf("round %d: %v in place of %v", round, slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(model)))
		}
		for key, value := range model {
			got, err := tx.Get([]byte(key))
			if err != nil || !bytes.Equal(got, value) {
				t.Fatalf("round %d: %s has %d bytes, %d were written: %v", round, key, len(got), len(value), err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// checkPlaces compares the places that are known of keys with those that the tables have.
func checkPlaces(t *testing.T, s *store) {
	t.Helper()
	s.applying.Lock()
	defer s.applying.Unlock()
	now := s.db.NewTransactionAt(math.MaxUint64, false)
	defer now.Discard()
	for i := range 60 {
		key := fmt.Append(nil, "key", i)
		known, ok := s.pointers.find(key, s.hot.hash(key), math.MaxUint64)
		if !ok {
			continue
		}
		item, err := now.Get(key)
		if err != nil {
			t.Fatalf("%s is thought to be at %v: %v", key, known, err)
		}
		if p, ok, err := pointerOf(item); !ok || err != nil || p != known {
			t.Fatalf("%s is at %v, thought to be at %v: %v", key, p, known, err)
		}
	}
}

// TestReaderOfMoved reads a state whose values are overwritten, moved and given up meanwhile.
func TestReaderOfMoved(t *testing.T) {
	s := open(t, t.TempDir(), Strict)
	defer s.Close()
	s.values.Smallest = 100 << 10
	d := kv.New(s, kv.Options{})
	set := func(round, n int) {
		t.Helper()
		if err := d.Update(ctx, func(tx *kv.Tx) (err error) {
			for i := range n {
				err = cmp.Or(err, tx.Set(fmt.Appendf(nil, "%03d", i), bytes.Repeat([]byte{byte(round)}, 2000)))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	set(0, 200)
	if err := d.View(ctx, func(tx *kv.Tx) error {
		for round := 1; round <= 12; round++ {
			set(round, 150)
			s.pending.hurry()
			if err := s.flushTables(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(150 * time.Millisecond)
			for i := range 200 {
				got, err := tx.Get(fmt.Appendf(nil, "%03d", i))
				if err != nil || !bytes.Equal(got, make([]byte, 2000)) {
					t.Fatalf("round %d: value %d: %v", round, i, err)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if s.values.List()[0].Number != 1 {
		t.Error("what is read was given up")
	}
	for deadline := time.Now().Add(time.Minute); s.values.List()[0].Number == 1; time.Sleep(50 * time.Millisecond) {
		set(13, 150)
		s.pending.hurry()
		if err := s.flushTables(); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("what nobody reads any more stays")
		}
	}
}

// TestLostValue cuts a file of values behind the store's back: a scan ends before its row and says
// why, however often it is asked to go on; the keys are all there, and so is a new value.
func TestLostValue(t *testing.T) {
	s := open(t, t.TempDir(), Strict)
	d := kv.New(s, kv.Options{})
	large := bytes.Repeat([]byte{1}, inlineSize+1)
	set := func(values map[string][]byte) {
		t.Helper()
		if err := d.Update(ctx, func(tx *kv.Tx) (err error) {
			for key, value := range values {
				err = cmp.Or(err, tx.Set([]byte(key), value))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	set(map[string][]byte{"a": {1}, "b": large, "c": {3}})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, s.dir, Strict)
	defer s.Close()
	d = kv.New(s, kv.Options{})
	if err := os.Truncate(glob(t, s.dir, "values/*")[0], 100); err != nil {
		t.Fatal(err)
	}
	walk := func(r kv.Range) (keys string, err error) {
		t.Helper()
		snap, err := s.Begin(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Discard()
		c := snap.Scan(r)
		defer c.Close()
		for c.Next() {
			keys += string(c.Key())
		}
		if c.Err() != nil && c.Next() {
			t.Error("a broken cursor goes on")
		}
		return keys, c.Err()
	}
	for _, top := range []string{"", "c", "b"} { // what a pending run has on top
		if top != "" {
			set(map[string][]byte{top: {9}})
		}
		for _, r := range []kv.Range{{}, {Reverse: true}, {KeysOnly: true}} {
			want := map[bool]string{false: "a", true: "c"}[r.Reverse]
			damaged := !r.KeysOnly && top != "b"
			if !damaged {
				want = map[bool]string{false: "abc", true: "cba"}[r.Reverse]
			}
			keys, err := walk(r)
			if keys != want || damaged != errors.Is(err, ErrCorrupt) || !damaged && err != nil {
				t.Errorf("%q on top, %+v: %q, want %q: %v", top, r, keys, want, err)
			}
		}
	}
	if err := s.Verify(ctx); !errors.Is(err, ErrCorrupt) {
		t.Errorf("verify: %v", err)
	}
}

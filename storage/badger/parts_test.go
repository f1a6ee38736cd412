package badger

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"catena/storage/kv"
)

// TestLargeValues writes, replaces and removes values of several sizes, those larger than Badger takes
// among them, and opens copies of the files as a killed process leaves them: what is read is what was
// written, and there are no parts but those of the values.
func TestLargeValues(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	s := open(t, dir, Strict)
	d := kv.New(s, kv.Options{})
	model := map[string][]byte{}
	values := [][]byte{nil}
	for _, n := range []int{0, 100, partSize - 4, partSize - 3, partSize + 1, 3 * partSize, kv.Portable.Value} {
		values = append(values, bytes.Repeat([]byte{byte(len(values))}, n))
	}
	for round := range 40 {
		if err := d.Update(ctx, func(tx *kv.Tx) error {
			for range 1 + r.IntN(3) {
				key, value := fmt.Sprint("key", r.IntN(5)), values[r.IntN(len(values))]
				if model[key] = value; value == nil {
					delete(model, key)
					if err := tx.Delete([]byte(key)); err != nil {
						return err
					}
				} else if err := tx.Set([]byte(key), value); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		switch r.IntN(10) {
		case 0:
			s.pending.hurry()
		case 1:
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir, Strict)
			d = kv.New(s, kv.Options{})
		case 2:
			killed := open(t, copyLive(t, s), Strict)
			checkLarge(t, round, killed, model)
			_ = killed.Close()
		}
		checkRead(t, round, d, model)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Strict)
	checkLarge(t, -1, s, model)
	_ = s.Close()
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

// checkLarge compares a store that was opened with what was written, and counts its parts.
func checkLarge(t *testing.T, round int, s *store, model map[string][]byte) {
	t.Helper()
	checkRead(t, round, kv.New(s, kv.Options{}), model)
	want, got := 0, 0
	for key := range model {
		stored := envelopeOf(t, s, key)
		if stored > partSize {
			want += (stored + partSize - 1) / partSize
		}
	}
	txn := s.db.NewTransactionAt(s.last, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{Prefix: partPrefix})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		got++
	}
	if got != want {
		t.Errorf("round %d: %d parts, %d of them in use", round, got, want)
	}
}

// envelopeOf is the size of a value as the store keeps it.
func envelopeOf(t *testing.T, s *store, key string) int {
	t.Helper()
	snap, err := s.Begin(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Discard()
	v, err := snap.Get([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return len(v)
}

// TestLostPart removes a part of a value behind the store's back: a scan ends before its row and says
// why, however often it is asked to go on; the keys are all there, and so is a new value.
func TestLostPart(t *testing.T) {
	s := open(t, t.TempDir(), Strict)
	d := kv.New(s, kv.Options{})
	large := bytes.Repeat([]byte{1}, partSize+1)
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
	b := s.db.NewManagedWriteBatch()
	if err := b.DeleteAt(s.inParts["b"].key([]byte("b"), 1), s.last); err != nil {
		t.Fatal(err)
	}
	if err := b.Flush(); err != nil {
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
}

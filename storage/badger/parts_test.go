package badger

import (
	"bytes"
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

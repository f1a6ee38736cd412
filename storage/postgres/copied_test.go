package postgres

import (
	"fmt"
	"testing"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/postgres/pgtest"
)

// fill adds so many new rows, which is enough for COPY.
func fill(tx *kv.Tx, prefix string, n int) error {
	for i := range n {
		if err := tx.Fresh(fmt.Appendf(nil, "%s%04d", prefix, i), fmt.Appendf(nil, "value %d", i)); err != nil {
			return err
		}
	}
	return nil
}

// TestCopiedRows: many new rows are added with the rest of their transaction, or not at all, and who has looked where they
// are conflicts with them.
func TestCopiedRows(t *testing.T) {
	s := opened(t, pgtest.Schema())
	d := kv.New(s, kv.Options{Log: quiet})
	defer d.Close()
	const rows = 2 * minCopied
	put(t, d, "old", "changed", "gone")
	count := func(prefix string) (n int) {
		t.Helper()
		if err := d.View(ctx, func(tx *kv.Tx) (err error) {
			n, _, err = tx.Count(kv.Prefix([]byte(prefix)), 10*rows)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}

	var filling *kv.Tx
	if err := d.Update(ctx, func(tx *kv.Tx) error {
		if err := fill(tx, "a", rows); err != nil {
			return err
		}
		if err := tx.Set([]byte("changed"), []byte("new")); err != nil {
			return err
		}
		filling = tx
		return tx.Delete([]byte("gone"))
	}); err != nil {
		t.Fatal(err)
	}
	if trips := filling.RoundTrips(); trips != 1 || count("a") != rows || count("changed") != 1 || count("gone") != 0 {
		t.Errorf("%d round trips, %d rows", filling.RoundTrips(), count("a"))
	}
	if err := d.View(ctx, func(tx *kv.Tx) error {
		v, err := tx.Get([]byte("a0007"))
		if string(v) != "value 7" {
			t.Errorf("a row has %q", v)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}

	// One of the rows is there, although that was never said to be possible: nothing is left of the transaction.
	err := d.Update(ctx, func(tx *kv.Tx) error {
		if err := tx.Set([]byte("besides"), nil); err != nil {
			return err
		}
		return fill(tx, "a", rows)
	})
	if !fault.Is(err, fault.Exists) || count("besides") != 0 {
		t.Errorf("got %v, and %d rows besides", err, count("besides"))
	}

	runs := 0
	if err := d.Update(ctx, func(tx *kv.Tx) error {
		runs++
		n, _, err := tx.Count(kv.Prefix([]byte("b")), 10*rows)
		if err != nil {
			return err
		}
		if runs == 1 { // another one adds rows, having read what this one writes
			if err := d.Update(ctx, func(other *kv.Tx) error {
				if _, err := other.Get([]byte("counted")); err != nil {
					return err
				}
				return fill(other, "b", rows)
			}); err != nil {
				return err
			}
		}
		return tx.Set([]byte("counted"), fmt.Append(nil, n))
	}); err != nil {
		t.Fatal(err)
	}
	if runs != 2 {
		t.Errorf("the count ran %d times, want 2", runs)
	}
}

// TestCopiedAndGuarded: what a transaction with many new rows rests on, few keys or many, is watched although it was never read.
func TestCopiedAndGuarded(t *testing.T) {
	s := opened(t, pgtest.Schema())
	d := kv.New(s, kv.Options{Log: quiet})
	defer d.Close()
	for _, keys := range []int{1, 2 * maxAhead} {
		put(t, d, "there", "guarded")
		runs := 0
		if err := d.Update(ctx, func(tx *kv.Tx) error {
			runs++
			for i := range keys - 1 {
				tx.Guard(fmt.Appendf(nil, "absent%d", i))
			}
			tx.Guard([]byte("guarded"))
			if runs > 1 {
				return fill(tx, fmt.Sprint("c", keys), minCopied)
			}
			if _, err := tx.Get([]byte("seen")); err != nil {
				return err
			}
			if err := d.Update(ctx, func(other *kv.Tx) error {
				if _, err := other.Get(fmt.Appendf(nil, "c%d0007", keys)); err != nil {
					return err
				}
				return other.Delete([]byte("guarded"))
			}); err != nil {
				return err
			}
			return fill(tx, fmt.Sprint("c", keys), minCopied)
		}); err != nil {
			t.Fatal(err)
		}
		if runs != 2 {
			t.Errorf("%d guarded keys: ran %d times, want 2", keys, runs)
		}
	}
}

package badger

import (
	"fmt"
	"testing"
	"time"

	"catena/storage/kv"
)

// TestMergeAtRest: a store that nobody writes to looks into one level instead of the many tables that writing left;
// one that much is written to is left alone.
func TestMergeAtRest(t *testing.T) {
	s := open(t, t.TempDir(), Relaxed)
	d := kv.New(s, kv.Options{})
	defer d.Close()
	const rounds, rows = 2 * fewTables, 50
	write := func(round int) {
		t.Helper()
		if err := d.Update(t.Context(), func(tx *kv.Tx) error {
			for i := range rows {
				if err := tx.Set(fmt.Appendf(nil, "%02d %02d", i, round), []byte("value")); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	level0 := func() int { return s.db.Levels()[0].NumTables }
	deadline := time.Now().Add(time.Minute)
	await := func(what string, done func() bool) {
		t.Helper()
		for !done() {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d tables", what, level0())
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	for round := range rounds {
		write(round)
		s.pending.hurry()
		if err := s.flushTables(); err != nil {
			t.Fatal(err)
		}
		await("flushed", func() bool { return level0() > round })
	}

	var r rest
	for range 3 * restTime {
		if err := s.mergeAtRest(&r, restBytes); err != nil {
			t.Fatal(err)
		}
	}
	if n := level0(); n < rounds || n >= mergedTables {
		t.Errorf("%d tables while it was written to", n)
	}
	await("merged", func() bool {
		if err := s.mergeAtRest(&r, 0); err != nil {
			t.Fatal(err)
		}
		return level0() < fewTables
	})
	if err := d.View(t.Context(), func(tx *kv.Tx) error {
		n, _, err := tx.Count(kv.Prefix(nil), 10*rounds*rows)
		if n != rounds*rows {
			t.Errorf("%d rows of %d", n, rounds*rows)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

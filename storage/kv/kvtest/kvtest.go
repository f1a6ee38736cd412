// Package kvtest is the contract of kv.Store, as tests that every implementation must pass. An engine's own test
// calls Run with a function that opens an empty store.
package kvtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"catena/storage/fault"
	"catena/storage/kv"
)

// Run plays the whole contract on stores that open returns empty. Run closes them.
func Run(t *testing.T, open func(t *testing.T) kv.Store) {
	tests := []struct {
		name string
		test func(*testing.T, *kv.DB)
	}{
		{"AfterCommit", testAfterCommit},
		{"Basics", testBasics},
		{"BinaryKeys", testBinaryKeys},
		{"Cancel", testCancel},
		{"Contention", func(t *testing.T, d *kv.DB) { testContention(t, d) }},
		{"Count", testCount},
		{"CreateRace", func(t *testing.T, d *kv.DB) { testCreateRace(t, d) }},
		{"CreateSemantics", testCreateSemantics},
		{"DumpLoad", func(t *testing.T, d *kv.DB) { testDumpLoad(t, d, open) }},
		{"ErrorRollsBack", testErrorRollsBack},
		{"Joins", testJoins},
		{"Histories", func(t *testing.T, d *kv.DB) { testHistories(t, d) }},
		{"LargeTransaction", testLargeTransaction},
		{"Limits", testLimits},
		{"LostUpdate", testLostUpdate},
		{"Nest", testNest},
		{"Phantoms", testPhantoms},
		{"ReadOnly", testReadOnly},
		{"ScanModel", testScanModel},
		{"ScanWhileWriting", testScanWhileWriting},
		{"Sequences", testSequences},
		{"Serializable", func(t *testing.T, d *kv.DB) { testSerializable(t, d) }},
		{"Snapshots", testSnapshots},
		{"Strict", testStrict},
		{"Verify", testVerify},
		{"Void", testVoid},
		{"Watch", testWatch},
		{"WriteSkew", testWriteSkew},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := kv.New(open(t), kv.Options{})
			tt.test(t, d)
			if err := d.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

var ctx = context.Background()

// put writes pairs of key and value in one transaction.
func put(t *testing.T, d *kv.DB, pairs ...string) {
	t.Helper()
	update(t, d, func(tx *kv.Tx) error {
		for i := 0; i < len(pairs); i += 2 {
			if err := tx.Set([]byte(pairs[i]), []byte(pairs[i+1])); err != nil {
				return err
			}
		}
		return nil
	})
}

func update(t *testing.T, d *kv.DB, fn func(*kv.Tx) error) {
	t.Helper()
	if err := d.Update(ctx, fn); err != nil {
		t.Fatal(err)
	}
}

// get reads one key in a view; "-" stands for absent.
func get(t *testing.T, d *kv.DB, key string) string {
	t.Helper()
	var out string
	if err := d.View(ctx, func(tx *kv.Tx) error {
		v, err := tx.Get([]byte(key))
		out = text(v)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func text(v []byte) string {
	if v == nil {
		return "-"
	}
	return string(v)
}

// dump is all rows of a range as "key=value ".
func dump(tx *kv.Tx, r kv.Range) (string, error) {
	var out []byte
	for row, err := range tx.Scan(r) {
		if err != nil {
			return "", err
		}
		out = fmt.Appendf(out, "%s=%s ", row.Key, row.Value)
	}
	return string(out), nil
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func wantKind(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("%s: got %v, want kind %v", what, err, kind)
	}
}

var errStop = errors.New("stop")

// race runs first as far as its reads, commits other, and lets first write and
// commit; it returns how often first ran. As long as other has read nothing, first may
// come before it in the serial order, whatever it has read.
func race(t *testing.T, d *kv.DB, first, other func(*kv.Tx) error, write func(*kv.Tx) error) (runs int) {
	t.Helper()
	update(t, d, func(tx *kv.Tx) error {
		runs++
		if err := first(tx); err != nil {
			return err
		}
		if runs == 1 {
			if err := d.Update(ctx, other); err != nil {
				return err
			}
		}
		return write(tx)
	})
	return runs
}

// cross is a race in which other reads everything before it writes. If first has read what other writes, neither can
// come before the other, and first must run again.
func cross(t *testing.T, d *kv.DB, first, other func(*kv.Tx) error, write func(*kv.Tx) error) (runs int) {
	t.Helper()
	return race(t, d, first, func(tx *kv.Tx) error {
		if _, err := dump(tx, kv.Range{}); err != nil {
			return err
		}
		return other(tx)
	}, write)
}

// collide is cross if first is to run twice, else race.
func collide(t *testing.T, d *kv.DB, runs int, first, other func(*kv.Tx) error, write func(*kv.Tx) error) int {
	t.Helper()
	if runs > 1 {
		return cross(t, d, first, other, write)
	}
	return race(t, d, first, other, write)
}

func set(key, value string) func(*kv.Tx) error {
	return func(tx *kv.Tx) error { return tx.Set([]byte(key), []byte(value)) }
}

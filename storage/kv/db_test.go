package kv_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
)

var (
	ctx   = context.Background()
	quiet = slog.New(slog.DiscardHandler)
)

// flipped is a store whose stored values have one bit wrong.
type flipped struct {
	kv.Store
	at int // position of the wrong byte, from the end if negative
}

type flippedSnapshot struct {
	kv.Snapshot
	at int
}

type flippedCursor struct {
	kv.Cursor
	at int
}

func (f flipped) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := f.Store.Begin(ctx, write)
	return flippedSnapshot{s, f.at}, err
}

func (f flippedSnapshot) Get(key []byte) ([]byte, error) {
	v, err := f.Snapshot.Get(key)
	return flip(v, f.at), err
}

func (f flippedSnapshot) GetMany(keys [][]byte) ([][]byte, error) {
	vals, err := f.Snapshot.GetMany(keys)
	for i := range vals {
		vals[i] = flip(vals[i], f.at)
	}
	return vals, err
}

func (f flippedSnapshot) Scan(r kv.Range) kv.Cursor { return flippedCursor{f.Snapshot.Scan(r), f.at} }

func (f flippedCursor) Value() ([]byte, error) {
	v, err := f.Cursor.Value()
	return flip(v, f.at), err
}

func flip(v []byte, at int) []byte {
	if v == nil {
		return nil
	}
	v = bytes.Clone(v)
	v[(at+len(v))%len(v)] ^= 8
	return v
}

func TestDamage(t *testing.T) {
	s := memory.New()
	key := []byte("key")
	err := kv.New(s, kv.Options{}).Update(ctx, func(tx *kv.Tx) error { return tx.Set(key, []byte("value")) })
	if err != nil {
		t.Fatal(err)
	}
	for at := range 13 {
		d := kv.New(flipped{s, at}, kv.Options{Log: quiet})
		reads := map[string]func(*kv.Tx) error{
			"get":  func(tx *kv.Tx) error { _, err := tx.Get(key); return err },
			"many": func(tx *kv.Tx) error { _, err := tx.GetMany([][]byte{key}); return err },
			"scan": func(tx *kv.Tx) error {
				for _, err := range tx.Scan(kv.Range{}) {
					return err
				}
				return nil
			},
		}
		for name, read := range reads {
			if err := d.View(ctx, read); !errors.Is(err, kv.ErrDamaged) || fault.Of(err) != fault.Internal {
				t.Errorf("byte %d, %s: %v", at, name, err)
			}
		}
		r, err := d.Verify(ctx, nil)
		if !errors.Is(err, kv.ErrDamaged) || r.Bad != 1 || string(r.Damaged[0]) != "key" {
			t.Errorf("byte %d, verify: %+v %v", at, r, err)
		}
	}
}

// contested is a store in which every commit loses.
type contested struct{ kv.Store }

type contestedSnapshot struct{ kv.Snapshot }

func (c contested) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := c.Store.Begin(ctx, write)
	return contestedSnapshot{s}, err
}

func (contestedSnapshot) Commit(context.Context, *kv.Batch) error { return kv.ErrConflict }

func TestGiveUp(t *testing.T) {
	var pauses []time.Duration
	var stats kv.Stats
	d := kv.New(contested{memory.New()}, kv.Options{
		Log:     quiet,
		Jitter:  func() float64 { return 0.5 },
		Sleep:   func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil },
		Observe: func(s kv.Stats) { stats = s },
	})
	runs := 0
	set := func(tx *kv.Tx) error { runs++; return tx.Set([]byte("a"), nil) }
	err := d.Update(ctx, set)
	if !fault.Is(err, fault.Conflict) || errors.Is(err, kv.ErrConflict) || runs != 16 {
		t.Errorf("%v after %d runs", err, runs)
	}
	if stats.Attempts != 16 || !stats.Write || stats.Err == nil {
		t.Errorf("stats %+v", stats)
	}
	if len(pauses) != 2 || pauses[0] != 375*time.Microsecond || pauses[1] != 750*time.Microsecond {
		t.Errorf("pauses %v", pauses)
	}
	// A function's own error is no reason to run again, whatever its kind.
	runs = 0
	own := fault.Conflict.Errorf("document: locked")
	if err := d.Update(ctx, func(*kv.Tx) error { runs++; return own }); !errors.Is(err, own) || runs != 1 {
		t.Errorf("%v after %d runs", err, runs)
	}
	// Nor does one that waits for its turn hold up one begun inside it for good.
	begin := time.Now()
	err = d.Update(ctx, func(tx *kv.Tx) error { return d.Update(ctx, set) })
	if !fault.Is(err, fault.Conflict) || time.Since(begin) > 5*time.Second {
		t.Errorf("nested: %v in %v", err, time.Since(begin))
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	c, cancel := context.WithCancel(ctx)
	d := kv.New(contested{memory.New()}, kv.Options{Log: quiet})
	runs := 0
	err := d.Update(c, func(tx *kv.Tx) error {
		if runs++; runs == 3 {
			cancel()
		}
		return tx.Set([]byte("a"), nil)
	})
	if !errors.Is(err, context.Canceled) || runs != 3 {
		t.Errorf("%v after %d runs", err, runs)
	}
}

// TestConflictOutside: a conflict of a statement outside of a transaction, such as for a number, has it run again; and no conflict is
// an error of the server.
func TestConflictOutside(t *testing.T) {
	d := kv.New(memory.New(), kv.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	defer d.Close()
	runs := 0
	err := d.Update(t.Context(), func(*kv.Tx) error {
		if runs++; runs < 3 {
			return fault.Wrap(kv.ErrConflict, "number")
		}
		return nil
	})
	if err != nil || runs != 3 {
		t.Errorf("%d runs: %v", runs, err)
	}
	always := func(*kv.Tx) error { return kv.ErrConflict }
	for what, err := range map[string]error{"update": d.Update(t.Context(), always), "view": d.View(t.Context(), always)} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestNestIsLocal: a part that can fail alone costs the same whatever was written before it.
func TestNestIsLocal(t *testing.T) {
	d := kv.New(memory.New(), kv.Options{Log: quiet})
	defer d.Close()
	if err := d.Update(ctx, func(tx *kv.Tx) error {
		value := []byte("value")
		for i := range 10_000 {
			if err := tx.Set(binary.BigEndian.AppendUint32(nil, uint32(i)), value); err != nil {
				return err
			}
		}
		i := 0
		if n := testing.AllocsPerRun(100, func() {
			i += 97
			if err := tx.Nest(func() error { return tx.Set(binary.BigEndian.AppendUint32(nil, uint32(i)), value) }); err != nil {
				t.Error(err)
			}
		}); n > 3 {
			t.Errorf("a part that writes a row takes %v allocations beside 10,000 rows", n)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

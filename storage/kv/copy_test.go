package kv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// filled is a store with rows.
func filled(t *testing.T, rows map[string]string) *kv.DB {
	t.Helper()
	d := kv.New(memory.New(), kv.Options{Log: quiet})
	t.Cleanup(func() { must(t, d.Close()) })
	must(t, d.Update(ctx, func(tx *kv.Tx) error {
		for key, value := range rows {
			if err := tx.Set([]byte(key), []byte(value)); err != nil {
				return err
			}
		}
		return nil
	}))
	return d
}

// rowsOf are the rows of a store.
func rowsOf(t *testing.T, d *kv.DB) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, d.View(ctx, func(tx *kv.Tx) error {
		clear(out)
		for r, err := range tx.Scan(kv.Range{}) {
			if err != nil {
				return err
			}
			out[string(r.Key)] = string(r.Value)
		}
		return nil
	}))
	return out
}

func sameRows(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func nothing() error { return nil }

// TestCopy: all rows arrive, except those that describe the store itself.
func TestCopy(t *testing.T) {
	many := map[string]string{}
	for i := range 10_001 {
		many[fmt.Sprintf("k%06d", i)] = strings.Repeat("v", i%7)
	}
	for name, rows := range map[string]map[string]string{
		"none": {}, "one": {"a": "b"}, "empty value": {"a": ""}, "any bytes": {"\x00copy\x00": "\x00", "\x00copz": "after", "\x00sequence\x00a": "12345678", "\xff\xff": "\xff", "a\x00b": ""}, "many": many,
	} {
		from, to := filled(t, rows), filled(t, nil)
		must(t, from.Update(ctx, func(tx *kv.Tx) error { return tx.Set(kv.OwnKey("id"), []byte("of the source")) }))
		called := 0
		c, err := kv.Copy(ctx, from, to, func() error {
			if copying, err := to.Copying(ctx); !copying || err != nil {
				t.Errorf("%s: before the end, copying %v, %v", name, copying, err)
			}
			called++
			return nil
		})
		if err != nil || called != 1 || c.Rows != int64(len(rows)) || c.Continued != 0 || !sameRows(rowsOf(t, to), rows) {
			t.Errorf("%s: %+v, %v, %d rows", name, c, err, len(rowsOf(t, to)))
			continue
		}
		if c.Ranges != (len(rows)+9_999)/10_000 {
			t.Errorf("%s: %d ranges", name, c.Ranges)
		}
		if copying, err := to.Copying(ctx); copying || err != nil {
			t.Errorf("%s: afterwards, copying %v, %v", name, copying, err)
		}
		if len(rows) == 0 {
			continue
		}
		again, err := kv.Copy(ctx, from, to, nothing)
		if err != nil || again.Continued != again.Rows {
			t.Errorf("%s, again: %+v, %v", name, again, err)
		}
	}
}

// halting is a store whose n-th commit fails, and all that follow.
type halting struct {
	kv.Store
	left *int
}

type haltingSnapshot struct {
	kv.Snapshot
	left *int
}

var errHalt = errors.New("halted")

func (h halting) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := h.Store.Begin(ctx, write)
	return haltingSnapshot{s, h.left}, err
}

func (h haltingSnapshot) Commit(ctx context.Context, b *kv.Batch) error {
	if *h.left--; *h.left < 0 {
		return errHalt
	}
	return h.Snapshot.Commit(ctx, b)
}

// TestCopyInterrupted: a copy that was interrupted after any of its transactions goes on where it ended, and not from another
// source.
func TestCopyInterrupted(t *testing.T) {
	rows := map[string]string{}
	for i := range 20_001 {
		rows[fmt.Sprintf("k%06d", i)] = "v"
	}
	from := filled(t, rows)
	for commits := range 4 {
		left, store := commits, memory.New()
		to := kv.New(halting{store, &left}, kv.Options{Log: quiet})
		if _, err := kv.Copy(ctx, from, to, nothing); !errors.Is(err, errHalt) {
			t.Fatalf("%d commits: %v", commits, err)
		}
		rest := kv.New(store, kv.Options{Log: quiet})
		copying, err := rest.Copying(ctx)
		if must(t, err); copying != (commits > 0) {
			t.Errorf("%d commits: copying %v", commits, copying)
		}
		if commits > 0 {
			other := filled(t, map[string]string{"k000000": "w"})
			if _, err := kv.Copy(ctx, other, rest, nothing); !fault.Is(err, fault.Conflict) {
				t.Errorf("%d commits, from another source: %v", commits, err)
			}
		}
		c, err := kv.Copy(ctx, from, rest, nothing)
		if want := int64(min(max(0, commits-1)*20_000, len(rows))); err != nil || c.Continued != want || !sameRows(rowsOf(t, rest), rows) {
			t.Errorf("%d commits: %+v, %v, want %d continued", commits, c, err, want)
		}
	}
}

// TestCopyRefused: nothing is copied over what is there, from a damaged source, or after the end; and what is done last can
// still keep the copy from being complete.
func TestCopyRefused(t *testing.T) {
	rows := map[string]string{"a": "1", "b": "2"}
	full := filled(t, map[string]string{"a": "1"})
	if _, err := kv.Copy(ctx, filled(t, rows), full, nothing); !fault.Is(err, fault.Exists) || len(rowsOf(t, full)) != 1 {
		t.Errorf("a target with rows: %v", err)
	}
	source := memory.New()
	must(t, kv.New(source, kv.Options{}).Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("a"), []byte("value")) }))
	to := filled(t, nil)
	if _, err := kv.Copy(ctx, kv.New(flipped{source, -1}, kv.Options{Log: quiet}), to, nothing); !errors.Is(err, kv.ErrDamaged) || len(rowsOf(t, to)) != 0 {
		t.Errorf("a damaged source: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := kv.Copy(ended, filled(t, rows), to, nothing); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	meant := errors.New("meant")
	if _, err := kv.Copy(ctx, filled(t, rows), to, func() error { return meant }); !errors.Is(err, meant) {
		t.Errorf("the last step: %v", err)
	}
	if copying, err := to.Copying(ctx); !copying || err != nil {
		t.Errorf("after the last step has failed: %v, %v", copying, err)
	}
	must(t, to.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("\x00copy"), []byte("{")) }))
	if _, err := kv.Copy(ctx, filled(t, rows), to, nothing); !fault.Is(err, fault.Internal) {
		t.Errorf("a damaged mark: %v", err)
	}
}

// TestDumpDamaged: a dump is loaded whole or not at all, wherever it is cut or changed.
func TestDumpDamaged(t *testing.T) {
	rows := map[string]string{"a": "1", "b": "", "c\x00": strings.Repeat("x", 200)}
	from := filled(t, rows)
	must(t, from.Update(ctx, func(tx *kv.Tx) error { return tx.Set(kv.OwnKey("id"), []byte("of the source")) }))
	var dump bytes.Buffer
	must(t, from.Dump(ctx, &dump))
	whole := filled(t, nil)
	must(t, whole.Load(ctx, bytes.NewReader(dump.Bytes())))
	if !sameRows(rowsOf(t, whole), rows) {
		t.Errorf("loaded %v", rowsOf(t, whole))
	}
	if err := whole.Load(ctx, bytes.NewReader(dump.Bytes())); !fault.Is(err, fault.Conflict) || !sameRows(rowsOf(t, whole), rows) {
		t.Errorf("into a store with rows: %v", err)
	}
	to := filled(t, nil)
	for at := range dump.Len() {
		for name, bad := range map[string][]byte{"cut": dump.Bytes()[:at], "changed": flip(dump.Bytes(), at)} {
			if err := to.Load(ctx, bytes.NewReader(bad)); err == nil || !errors.Is(err, kv.ErrDamaged) && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Limit) {
				t.Fatalf("%s at %d: %v", name, at, err)
			}
			if n := len(rowsOf(t, to)); n != 0 {
				t.Fatalf("%s at %d: %d rows are left", name, at, n)
			}
		}
	}
	must(t, to.Load(ctx, bytes.NewReader(append(bytes.Clone(dump.Bytes()), "what follows is not read"...))))
}

// FuzzLoad loads any bytes: what is no dump leaves nothing behind.
func FuzzLoad(f *testing.F) {
	d := kv.New(memory.New(), kv.Options{Log: quiet})
	if err := d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("k"), []byte("v")) }); err != nil {
		f.Fatal(err)
	}
	var dump bytes.Buffer
	if err := d.Dump(ctx, &dump); err != nil {
		f.Fatal(err)
	}
	f.Add(dump.Bytes())
	f.Add([]byte("catena dump 1\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add([]byte("catena dump 1\n\x02\x00a\x02\x00a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		to := kv.New(memory.New(), kv.Options{Log: quiet})
		if err := to.Load(ctx, bytes.NewReader(b)); err != nil && len(rowsOf(t, to)) != 0 {
			t.Errorf("%v, and %d rows", err, len(rowsOf(t, to)))
		}
	})
}

// TestSequences: numbers begin at 1, have no gap when a store is closed well, and a name is any text of up to 200 bytes.
func TestSequences(t *testing.T) {
	store := memory.New()
	keep := unclosed{store}
	want := int64(1)
	for range 4 {
		d := kv.New(keep, kv.Options{Log: quiet})
		for range 37 {
			n, err := d.Next(ctx, "orders")
			if err != nil || n != want {
				t.Fatalf("got %d, %v, want %d", n, err, want)
			}
			want++
		}
		must(t, d.View(ctx, func(tx *kv.Tx) error {
			if up, err := tx.Upcoming("orders"); err != nil || up < want {
				t.Errorf("upcoming %d, %v, after %d", up, err, want-1)
			}
			return nil
		}))
		must(t, d.Close())
	}
	d := kv.New(keep, kv.Options{Log: quiet})
	for _, c := range []struct {
		name string
		ok   bool
	}{{"", false}, {strings.Repeat("x", 200), true}, {strings.Repeat("x", 201), false}, {"a\x00b", true}, {"ä", true}, {"ORDERS", true}} {
		n, err := d.Next(ctx, c.name)
		if c.ok != (err == nil) || c.ok && n != 1 || !c.ok && !fault.Is(err, fault.Invalid) {
			t.Errorf("%.10q: %d, %v", c.name, n, err)
		}
	}
	must(t, d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("\x00sequence\x00bad"), []byte("123")) }))
	if _, err := d.Next(ctx, "bad"); !fault.Is(err, fault.Internal) {
		t.Errorf("a damaged number: %v", err)
	}
	if _, err := d.Next(ctx, "bad"); !fault.Is(err, fault.Internal) {
		t.Errorf("a damaged number, again: %v", err)
	}
}

// TestLeaseOfOne: two processes that take one number at a time count together.
func TestLeaseOfOne(t *testing.T) {
	store := unclosed{memory.New()}
	nodes := []*kv.DB{kv.New(store, kv.Options{Log: quiet, Lease: 1}), kv.New(store, kv.Options{Log: quiet, Lease: 1})}
	for want := range int64(50) {
		n, err := nodes[want%3%2].Next(ctx, "orders")
		if err != nil || n != want+1 {
			t.Fatalf("got %d, %v, want %d", n, err, want+1)
		}
	}
	for _, d := range nodes {
		must(t, d.Close())
	}
}

// unclosed is a store that stays open, so that it can be opened again.
type unclosed struct{ kv.Store }

func (unclosed) Close() error { return nil }

// TestTupleDamaged: a part is read back whole with what follows it, inverted or not, and one that was cut is refused.
func TestTupleDamaged(t *testing.T) {
	for _, v := range []any{"", "a", "a\x00b", "\x00\x00", "\xff\x01", "ä", int64(-1), int64(1 << 62), -1.5, 1e300, true, false} {
		var part []byte
		var read func(b []byte) (any, []byte, error)
		switch v := v.(type) {
		case string:
			part, read = kv.AppendString(nil, v), func(b []byte) (any, []byte, error) { s, rest, err := kv.DecodeString(b); return s, rest, err }
		case int64:
			part, read = kv.AppendInt64(nil, v), func(b []byte) (any, []byte, error) { n, rest, err := kv.DecodeInt64(b); return n, rest, err }
		case float64:
			part, read = kv.AppendFloat64(nil, v), func(b []byte) (any, []byte, error) { n, rest, err := kv.DecodeFloat64(b); return n, rest, err }
		case bool:
			part, read = kv.AppendBool(nil, v), func(b []byte) (any, []byte, error) { n, rest, err := kv.DecodeBool(b); return n, rest, err }
		}
		for _, p := range [][]byte{part, kv.Invert(bytes.Clone(part))} {
			got, rest, err := read(append(bytes.Clone(p), "rest"...))
			if err != nil || got != v || string(rest) != "rest" {
				t.Errorf("%v: %v, %q, %v", v, got, rest, err)
			}
			for cut := range p {
				if got, _, err := read(p[:cut]); err == nil {
					t.Errorf("%v, cut at %d: %v", v, cut, got)
				}
			}
			if _, ok := kv.DecodeNil(p); ok {
				t.Errorf("%v is nil", v)
			}
		}
	}
	for _, b := range [][]byte{kv.AppendNil(nil), kv.Invert(kv.AppendNil(nil))} {
		if rest, ok := kv.DecodeNil(append(b, 'x')); !ok || string(rest) != "x" {
			t.Errorf("nil: %q, %v", rest, ok)
		}
	}
	if _, _, err := kv.DecodeString([]byte{0x10, 'a', 0, 2}); err == nil {
		t.Error("a text with a zero that is followed by something else")
	}
}

package kvtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
)

func testBasics(t *testing.T, d *kv.DB) {
	want(t, "absent", get(t, d, "a"), "-")
	put(t, d, "a", "1", "b", "2", "empty", "")
	want(t, "a", get(t, d, "a"), "1")
	want(t, "empty", get(t, d, "empty"), "")
	put(t, d, "a", "3")
	want(t, "overwritten", get(t, d, "a"), "3")
	update(t, d, func(tx *kv.Tx) error {
		if err := tx.Delete([]byte("a")); err != nil {
			return err
		}
		if v, err := tx.Get([]byte("a")); v != nil || err != nil {
			t.Errorf("own delete: got %q, %v", v, err)
		}
		if err := tx.Delete([]byte("never")); err != nil {
			return err
		}
		vals, err := tx.GetMany([][]byte{[]byte("b"), []byte("a"), []byte("empty"), []byte("b")})
		if err != nil {
			return err
		}
		want(t, "many", text(vals[0])+text(vals[1])+text(vals[2])+text(vals[3]), "2-2")
		return nil
	})
	want(t, "deleted", get(t, d, "a"), "-")
	key, value := []byte("reused"), []byte("before")
	update(t, d, func(tx *kv.Tx) error {
		err := tx.Set(key, value)
		copy(key, "xxxxxx")
		copy(value, "xxxxxx")
		return err
	})
	want(t, "slices may be reused", get(t, d, "reused"), "before")
}

func testBinaryKeys(t *testing.T, d *kv.DB) {
	keys := []string{"\x01", "\x01\x00", "\x01\x00\x00", "\x01\x00\xff", "\x01\x01", "\x7f", "\x80", "\xff", "\xff\x00", "\xff\xff", "\xff\xff\xff"}
	for i := len(keys) - 1; i >= 0; i-- {
		put(t, d, keys[i], fmt.Sprintf("%x", keys[i]))
	}
	for _, k := range keys {
		want(t, fmt.Sprintf("%x", k), get(t, d, k), fmt.Sprintf("%x", k))
	}
	for _, tt := range []struct{ prefix, want string }{
		{"\x01\x00", "0100 010000 0100ff "},
		{"\xff", "ff ff00 ffff ffffff "},
		{"\xff\xff", "ffff ffffff "},
		{"\x7f", "7f "},
		{"", "01 0100 010000 0100ff 0101 7f 80 ff ff00 ffff ffffff "},
	} {
		if err := d.View(ctx, func(tx *kv.Tx) error {
			var got strings.Builder
			for row, err := range tx.Scan(kv.Prefix([]byte(tt.prefix))) {
				if err != nil {
					return err
				}
				fmt.Fprintf(&got, "%x ", row.Key)
			}
			want(t, fmt.Sprintf("prefix %x", tt.prefix), got.String(), tt.want)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func testReadOnly(t *testing.T, d *kv.DB) {
	put(t, d, "a", "1")
	err := d.View(ctx, func(tx *kv.Tx) error {
		if tx.Writable() {
			t.Error("a view is writable")
		}
		wantKind(t, "set", tx.Set([]byte("a"), nil), fault.Invalid)
		wantKind(t, "create", tx.Create([]byte("b"), nil), fault.Invalid)
		return tx.Delete([]byte("a"))
	})
	wantKind(t, "delete", err, fault.Invalid)
	want(t, "after", get(t, d, "a"), "1")
	var kept *kv.Tx
	update(t, d, func(tx *kv.Tx) error { kept = tx; return nil })
	wantKind(t, "used after its end", kept.Set([]byte("a"), nil), fault.Invalid)
	_, err = kept.Get([]byte("a"))
	wantKind(t, "read after its end", err, fault.Invalid)
}

func testErrorRollsBack(t *testing.T, d *kv.DB) {
	put(t, d, "a", "1")
	err := d.Update(ctx, func(tx *kv.Tx) error {
		if err := tx.Set([]byte("a"), []byte("2")); err != nil {
			return err
		}
		return errStop
	})
	if !errors.Is(err, errStop) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { want(t, "panic", fmt.Sprint(recover()), "boom") }()
		_ = d.Update(ctx, func(tx *kv.Tx) error {
			_ = tx.Set([]byte("a"), []byte("3"))
			panic("boom")
		})
	}()
	want(t, "after", get(t, d, "a"), "1")
}

func testCancel(t *testing.T, d *kv.DB) {
	c, cancel := context.WithCancel(ctx)
	err := d.Update(c, func(tx *kv.Tx) error {
		cancel()
		return tx.Set([]byte("a"), nil)
	})
	wantKind(t, "update", err, fault.Unavailable)
	wantKind(t, "view", d.View(c, func(*kv.Tx) error { return nil }), fault.Unavailable)
	want(t, "after", get(t, d, "a"), "-")
}

// testLimits: every store accepts at least the portable limits, keys and values of exactly the limit, and refuses what exceeds it with
// nothing written.
func testLimits(t *testing.T, d *kv.DB) {
	l := d.Limits()
	if l.Key < kv.Portable.Key || l.Value < kv.Portable.Value || l.TxKeys < kv.Portable.TxKeys || l.TxBytes < kv.Portable.TxBytes {
		t.Errorf("limits %+v are below the portable ones", l)
	}
	longest, largest := bytes.Repeat([]byte("k"), l.Key), bytes.Repeat([]byte("v"), l.Value)
	update(t, d, func(tx *kv.Tx) error {
		wantKind(t, "long key", tx.Set(append(longest, 'k'), nil), fault.Limit)
		wantKind(t, "empty key", tx.Set(nil, nil), fault.Invalid)
		wantKind(t, "large value", tx.Set([]byte("a"), append(largest, 'v')), fault.Limit)
		return tx.Set(longest, largest)
	})
	want(t, "largest", get(t, d, string(longest)), string(largest))
	err := d.Update(ctx, func(tx *kv.Tx) error {
		for i := range l.TxKeys {
			if err := tx.Set(fmt.Appendf(nil, "%d", i), nil); err != nil {
				return err
			}
		}
		if n, _ := tx.Size(); n != l.TxKeys {
			t.Errorf("size %d, want %d", n, l.TxKeys)
		}
		return tx.Set([]byte("one more"), nil)
	})
	wantKind(t, "many keys", err, fault.Limit)
	err = d.Update(ctx, func(tx *kv.Tx) error {
		for i := range l.TxBytes/l.Value + 1 {
			if err := tx.Set(fmt.Appendf(nil, "%d", i), largest); err != nil {
				return err
			}
		}
		return nil
	})
	wantKind(t, "many bytes", err, fault.Limit)
	want(t, "after", get(t, d, "0"), "-")
}

func testLargeTransaction(t *testing.T, d *kv.DB) {
	const n = 60_000
	value := bytes.Repeat([]byte("v"), 300)
	stop, seen := make(chan struct{}), make(chan error, 1)
	go func() { seen <- seeWhole(d, stop, "000000", fmt.Sprintf("%06d", n/2), fmt.Sprintf("%06d", n-1)) }()
	update(t, d, func(tx *kv.Tx) error {
		for i := range n {
			if err := tx.Create(fmt.Appendf(nil, "%06d", i), value); err != nil {
				return err
			}
		}
		return nil
	})
	close(stop)
	if err := <-seen; err != nil {
		t.Error(err)
	}
	update(t, d, func(tx *kv.Tx) error {
		got, more, err := tx.Count(kv.Range{}, n)
		if got != n || more {
			t.Errorf("count %d, %v", got, more)
		}
		for i := range n {
			if i%2 == 0 {
				if err := tx.Delete(fmt.Appendf(nil, "%06d", i)); err != nil {
					return err
				}
			}
		}
		return err
	})
	if err := d.View(ctx, func(tx *kv.Tx) error {
		got, _, err := tx.Count(kv.Range{}, n)
		if got != n/2 {
			t.Errorf("after deleting half: count %d", got)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// seeWhole reads keys of one transaction until stop: all are there or none.
func seeWhole(d *kv.DB, stop <-chan struct{}, keys ...string) error {
	ask := make([][]byte, len(keys))
	for i, k := range keys {
		ask[i] = []byte(k)
	}
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := d.View(ctx, func(tx *kv.Tx) error {
			vals, err := tx.GetMany(ask)
			for _, v := range vals {
				if (v == nil) != (vals[0] == nil) {
					return fmt.Errorf("part of a transaction is visible")
				}
			}
			return err
		}); err != nil {
			return err
		}
	}
}

// testNest: a part that fails or panics leaves no writes, wake-ups or functions behind, but what it has read still counts, because the
// caller may have learned from it.
func testNest(t *testing.T, d *kv.DB) {
	put(t, d, "a", "1", "b", "2")
	woken, stop := d.Watch("inner")
	defer stop()
	var after []string
	update(t, d, func(tx *kv.Tx) error {
		_ = tx.Set([]byte("a"), []byte("outer"))
		tx.AfterCommit(func() { after = append(after, "outer") })
		keys, size := tx.Size()
		err := tx.Nest(func() error {
			_ = tx.Set([]byte("a"), []byte("inner"))
			_ = tx.Delete([]byte("b"))
			_ = tx.Create([]byte("c"), []byte("inner"))
			tx.Wake("inner")
			tx.AfterCommit(func() { after = append(after, "inner") })
			if err := tx.Nest(func() error { return cmp.Or(tx.Set([]byte("a"), nil), tx.Set([]byte("c"), []byte("innermost"))) }); err != nil {
				return err
			}
			return tx.Nest(func() error { return cmp.Or(tx.Delete([]byte("c")), errStop) })
		})
		if !errors.Is(err, errStop) {
			t.Errorf("nest: %v", err)
		}
		if k, s := tx.Size(); k != keys || s != size {
			t.Errorf("size %d %d, want %d %d", k, s, keys, size)
		}
		func() {
			defer func() { want(t, "panic", fmt.Sprint(recover()), "boom") }()
			_ = tx.Nest(func() error { _ = tx.Set([]byte("p"), nil); panic("boom") })
		}()
		if err := tx.Nest(func() error { return tx.Create([]byte("kept"), []byte("k")) }); err != nil {
			return err
		}
		got, err := dump(tx, kv.Range{})
		want(t, "inside", got, "a=outer b=2 kept=k ")
		return err
	})
	want(t, "after", strings.Join(after, " "), "outer")
	want(t, "a", get(t, d, "a"), "outer")
	want(t, "b", get(t, d, "b"), "2")
	want(t, "c", get(t, d, "c"), "-")
	select {
	case <-woken:
		t.Error("a wake-up undone was sent")
	default:
	}
	// What a part that failed has read still counts.
	runs := cross(t, d, func(tx *kv.Tx) error {
		_ = tx.Nest(func() error { _, _ = tx.Get([]byte("b")); return errStop })
		return nil
	}, set("b", "3"), set("z", "1"))
	if runs != 2 {
		t.Errorf("ran %d times, want 2", runs)
	}
}

func testAfterCommit(t *testing.T, d *kv.DB) {
	var got []int
	runs := 0
	update(t, d, func(tx *kv.Tx) error {
		runs++
		if _, err := tx.Get([]byte("a")); err != nil {
			return err
		}
		if runs == 1 {
			update(t, d, func(tx *kv.Tx) error {
				if _, err := tx.Get([]byte("b")); err != nil {
					return err
				}
				return tx.Set([]byte("a"), []byte("1"))
			})
		}
		tx.AfterCommit(func() {
			want(t, "in it", get(t, d, "b"), "2")
			got = append(got, runs)
		})
		tx.AfterCommit(func() { got = append(got, 10) })
		return tx.Set([]byte("b"), []byte("2"))
	})
	want(t, "calls", fmt.Sprint(got), "[2 10]")
	_ = d.Update(ctx, func(tx *kv.Tx) error {
		tx.AfterCommit(func() { t.Error("ran after a rollback") })
		return errStop
	})
}

func testWatch(t *testing.T, d *kv.DB) {
	ch, stop := d.Watch("topic")
	other, stopOther := d.Watch("other")
	defer stopOther()
	_ = d.Update(ctx, func(tx *kv.Tx) error { tx.Wake("topic"); _ = tx.Set([]byte("a"), nil); return errStop })
	select {
	case <-ch:
		t.Error("woken by a rollback")
	case <-time.After(10 * time.Millisecond):
	}
	update(t, d, func(tx *kv.Tx) error {
		tx.Wake("topic")
		tx.Wake("topic")
		return tx.Set([]byte("a"), []byte("1"))
	})
	select {
	case <-ch:
		want(t, "seen by the woken", get(t, d, "a"), "1")
	case <-time.After(5 * time.Second):
		t.Error("not woken")
	}
	update(t, d, func(tx *kv.Tx) error { tx.Wake("topic"); return nil })
	select {
	case <-ch:
	case <-time.After(5 * time.Second):
		t.Error("not woken by a transaction that writes nothing")
	}
	stop()
	update(t, d, func(tx *kv.Tx) error { tx.Wake("topic"); return tx.Set([]byte("a"), nil) })
	select {
	case <-ch:
		t.Error("woken after stop")
	case <-other:
		t.Error("woken by another topic")
	default:
	}
}

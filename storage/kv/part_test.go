package kv_test

import (
	"bytes"
	"errors"
	"testing"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/kv/kvtest"
	"catena/storage/memory"
)

func sharedS(key []byte) bool { return key[0] == 's' }

func TestPartContract(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store {
		s, err := kv.Part(memory.New(), "archive", sharedS)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// rows lists what a DB holds in a space, as "key=value".
func rows(t *testing.T, d *kv.DB, space string) string {
	t.Helper()
	var b bytes.Buffer
	err := d.View(ctx, func(tx *kv.Tx) error {
		for row, err := range tx.Scan(kv.Prefix([]byte(space))) {
			if err != nil {
				return err
			}
			b.WriteString(string(row.Key) + "=" + string(row.Value) + " ")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func set(t *testing.T, d *kv.DB, pairs ...string) {
	t.Helper()
	err := d.Update(ctx, func(tx *kv.Tx) error {
		for i := 0; i < len(pairs); i += 2 {
			if err := tx.Create([]byte(pairs[i]), []byte(pairs[i+1])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func part(t *testing.T, d *kv.DB, name string) *kv.DB {
	t.Helper()
	p, err := d.Part(name, sharedS)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A part has rows of its own under the same keys, shares those that are shared, and a copy of the
// store holds all of them.
func TestPartRows(t *testing.T) {
	whole := kv.New(memory.New(), kv.Options{Log: quiet})
	a, b := part(t, whole, "a"), part(t, whole, "ab")
	set(t, whole, "d1", "whole", "s1", "everybody")
	set(t, a, "d1", "a", "d2", "a", "s2", "by a")
	set(t, b, "d1", "b")
	for _, tt := range []struct {
		db        *kv.DB
		own, both string
	}{
		{whole, "d1=whole ", "s1=everybody s2=by a "},
		{a, "d1=a d2=a ", "s1=everybody s2=by a "},
		{b, "d1=b ", "s1=everybody s2=by a "},
	} {
		if own, both := rows(t, tt.db, "d"), rows(t, tt.db, "s"); own != tt.own || both != tt.both {
			t.Errorf("got %q and %q, want %q and %q", own, both, tt.own, tt.both)
		}
	}
	if _, err := whole.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
	var dump bytes.Buffer
	if err := whole.Dump(ctx, &dump); err != nil {
		t.Fatal(err)
	}
	copied := kv.New(memory.New(), kv.Options{Log: quiet})
	if err := copied.Load(ctx, &dump); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, part(t, copied, "a"), "d"); got != "d1=a d2=a " {
		t.Errorf("in the copy: got %q", got)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, whole, "d"); got != "d1=whole " {
		t.Errorf("after a part was closed: got %q", got)
	}
	for _, name := range []string{"", "a\x00b"} {
		if _, err := whole.Part(name, sharedS); !fault.Is(err, fault.Invalid) {
			t.Errorf("part %q: got %v", name, err)
		}
	}
}

// What one DB reads is checked against what another commits, also where scans of a shared and of an own
// space touch each other.
func TestPartRaces(t *testing.T) {
	whole := kv.New(memory.New(), kv.Options{Log: quiet, Attempts: 1})
	a := part(t, whole, "a")
	for _, tt := range []struct {
		spaces []string
		by     *kv.DB
		key    string
		lost   bool
	}{
		{[]string{"s"}, whole, "s9", true},
		{[]string{"r", "s"}, whole, "s8", true},
		{[]string{"s", "t"}, a, "t8", true},
		{[]string{"t"}, a, "t7", true},
		{[]string{"q"}, whole, "q6", false},
	} {
		err := a.Update(ctx, func(tx *kv.Tx) error {
			for _, space := range tt.spaces {
				if _, _, err := tx.Count(kv.Prefix([]byte(space)), 0); err != nil {
					return err
				}
			}
			set(t, tt.by, tt.key, "first")
			return tx.Set([]byte("d1"), nil)
		})
		if got := fault.Is(err, fault.Conflict) || errors.Is(err, kv.ErrConflict); got != tt.lost {
			t.Errorf("%v, then %s: got %v", tt.spaces, tt.key, err)
		}
	}
}

package badger

import (
	"fmt"
	"math"
	"testing"
	"time"

	"catena/storage/kv"
)

// TestHotReads: what is read twice in a row is kept, each snapshot sees its own value, and what is read once drives
// nothing out.
func TestHotReads(t *testing.T) {
	s := open(t, t.TempDir(), Relaxed)
	key := []byte("key")
	write := func(value string) {
		t.Helper()
		w, err := s.Begin(ctx, true)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Discard()
		if err := w.Commit(ctx, &kv.Batch{Writes: []kv.Mutation{{Key: key, Value: []byte(value)}}}); err != nil {
			t.Fatal(err)
		}
	}
	view := func() kv.Snapshot {
		t.Helper()
		v, err := s.Begin(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Discard)
		return v
	}
	applied := func() { // a snapshot with nothing that Badger does not have
		t.Helper()
		for end := time.Now().Add(10 * time.Second); len(view().(*snapshot).runs) > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("what was committed is not applied")
			}
		}
	}
	read := func(v kv.Snapshot, key []byte, want string) {
		t.Helper()
		got, err := v.Get(key)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q %v, want %q", key, got, err, want)
		}
	}
	kept := func() bool {
		_, ok := s.hot.get(key, s.hot.hash(key), math.MaxUint64)
		return ok
	}
	write("one")
	applied()
	old := view()
	read(old, key, "one")
	if kept() {
		t.Error("a key that was read once is kept")
	}
	read(old, key, "one")
	if !kept() {
		t.Error("a key that was read twice is not kept")
	}
	other := sameSlot(s, key)
	read(old, other, "")
	if !kept() {
		t.Error("a key that was read once drove out another")
	}
	write("two")
	if kept() {
		t.Error("a value is kept although it was overwritten")
	}
	for range 3 {
		read(old, key, "one")
		read(view(), key, "two")
	}
	applied()
	for range 3 {
		read(view(), key, "two")
		read(old, key, "one")
	}
}

// sameSlot returns another key of the slot of a key.
func sameSlot(s *store, key []byte) []byte {
	for i := 0; ; i++ {
		other := fmt.Appendf(nil, "other%d", i)
		if s.hot.hash(other)%hotSlots == s.hot.hash(key)%hotSlots {
			return other
		}
	}
}

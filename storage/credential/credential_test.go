package credential_test

import (
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/storagetest"
)

// world is a repository in memory with a clock that tests move.
type world struct {
	*storage.Repo
	t   testing.TB
	db  *kv.DB
	now time.Time
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w.Repo = storagetest.Open(t, func(c *storage.Config) {
		c.Clock = func() time.Time { return w.now }
		w.db = c.DB
	})
	return w
}

func (w *world) update(as *storage.Principal, fn func(*storage.Tx) error) {
	w.t.Helper()
	if err := w.Update(w.t.Context(), as, fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) view(as *storage.Principal, fn func(*storage.Tx) error) {
	w.t.Helper()
	if err := w.View(w.t.Context(), as, fn); err != nil {
		w.t.Fatal(err)
	}
}

func wantKind(t testing.TB, err error, k fault.Kind, part string) {
	t.Helper()
	if !fault.Is(err, k) || !strings.Contains(err.Error(), part) {
		t.Errorf("got %v (%v), want %v with %q", err, fault.Of(err), k, part)
	}
}

package storagetest

import (
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
)

// World is a repository in memory with a clock that tests move.
type World struct {
	*storage.Repo
	DB  *kv.DB
	Now time.Time

	t testing.TB
}

// NewWorld opens a fresh one that is closed when the test ends.
func NewWorld(t testing.TB) *World {
	t.Helper()
	w := &World{t: t, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w.Repo = Open(t, func(c *storage.Config) {
		c.Clock = func() time.Time { return w.Now }
		w.DB = c.DB
	})
	return w
}

// Write carries out fn, which succeeds.
func (w *World) Write(as *storage.Principal, fn func(*storage.Tx) error) {
	w.t.Helper()
	check(w.t, w.Update(w.t.Context(), as, fn))
}

// Read carries out fn, which only reads and succeeds.
func (w *World) Read(as *storage.Principal, fn func(*storage.Tx) error) {
	w.t.Helper()
	check(w.t, w.View(w.t.Context(), as, fn))
}

// WantKind expects an error of a kind that says part.
func WantKind(t testing.TB, err error, k fault.Kind, part string) {
	t.Helper()
	if !fault.Is(err, k) || !strings.Contains(err.Error(), part) {
		t.Errorf("got %v (%v), want %v with %q", err, fault.Of(err), k, part)
	}
}

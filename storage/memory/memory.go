// Package memory is the key-value store that keeps everything in memory until it is closed. Tests run on it, and it
// shows in a few lines what an engine has to do: give out snapshots that do not change, apply a commit as a whole or
// not at all, and report the version of each commit. It passes the same suite as the others (kvtest).
package memory

import (
	"context"
	"sync"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/kv/tree"
)

// store is one memory store.
type store struct {
	topics kv.Topics

	mu      sync.Mutex
	rows    tree.Tree[[]byte]
	version uint64
	history *kv.History
	closed  bool
}

// New returns an empty store.
func New() kv.Store { return &store{history: kv.NewHistory(0)} }

// Begin opens a snapshot.
func (s *store) Begin(_ context.Context, write bool) (kv.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed()
	}
	snap := &snapshot{s: s, rows: s.rows.Snapshot(), version: s.version}
	if write {
		snap.mark = s.history.Begin(true)
	}
	return snap, nil
}

// Watch subscribes to a topic.
func (s *store) Watch(topic string) (<-chan struct{}, func()) { return s.topics.Watch(topic) }

// Limits are the portable ones, so that tests meet them.
func (s *store) Limits() kv.Limits { return kv.Portable }

// Close refuses all that follows.
func (s *store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// commit checks what the transaction has read against the commits since it began, and applies its writes under the same lock, so
// that commits are serializable. A version is published last: snapshots taken before do not see it.
func (s *store) commit(start uint64, b *kv.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed()
	}
	if len(b.Writes) == 0 {
		return nil
	}
	if err := s.history.Check(start, &b.Reads); err != nil {
		return err
	}
	keys := make([][]byte, len(b.Writes))
	for i, w := range b.Writes {
		if keys[i] = w.Key; w.Value == nil {
			s.rows.Delete(w.Key)
		} else {
			s.rows.Set(w.Key, w.Value)
		}
	}
	s.version++
	s.history.Add(s.version, keys)
	s.history.Publish(s.version)
	return nil
}

func errClosed() error { return fault.Unavailable.Errorf("store: closed") }

// snapshot is the state of the store at one version.
type snapshot struct {
	s       *store
	rows    tree.Tree[[]byte]
	version uint64
	mark    *kv.Mark
}

// Version numbers the state.
func (s *snapshot) Version() uint64 { return s.version }

// Get returns the value of a key.
func (s *snapshot) Get(key []byte) ([]byte, error) {
	v, _ := s.rows.Get(key)
	return v, nil
}

// GetMany returns the values of keys.
func (s *snapshot) GetMany(keys [][]byte) ([][]byte, error) {
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i], _ = s.rows.Get(k)
	}
	return out, nil
}

// Scan walks a range.
func (s *snapshot) Scan(r kv.Range) kv.Cursor {
	return &cursor{Cursor: s.rows.Range(r.Start, r.End, r.Reverse), left: r.Limit, limited: r.Limit > 0}
}

// Commit applies a batch.
func (s *snapshot) Commit(_ context.Context, b *kv.Batch) error {
	if err := b.Guard(s); err != nil {
		return err
	}
	if err := s.s.commit(s.version, b); err != nil {
		return err
	}
	s.s.topics.Wake(b.Wake)
	return nil
}

// Discard closes the snapshot.
func (s *snapshot) Discard() {
	if s.mark != nil {
		s.s.history.End(s.mark, true)
		s.mark = nil
	}
}

// cursor walks the rows of a snapshot.
type cursor struct {
	tree.Cursor[[]byte]
	left    int
	limited bool
}

// Next moves to the next row.
func (c *cursor) Next() bool {
	if c.limited {
		if c.left == 0 {
			return false
		}
		c.left--
	}
	return c.Cursor.Next()
}

// Value returns the row's value.
func (c *cursor) Value() ([]byte, error) { return c.Cursor.Value(), nil }

// Err is nil: memory does not fail.
func (c *cursor) Err() error { return nil }

// Close has nothing to release.
func (c *cursor) Close() {}

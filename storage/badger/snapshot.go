package badger

import (
	"bytes"
	"context"
	"errors"
	"runtime/debug"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"catena/storage/fault"
	"catena/storage/kv"
)

// snapshot is the state of the store at one version.
type snapshot struct {
	s     *store
	txn   *badger.Txn
	runs  []*run // pending, oldest first
	mark  *kv.Mark
	write bool
}

// Version numbers the state.
func (s *snapshot) Version() uint64 { return s.mark.Version }

// Get returns the value of a key.
func (s *snapshot) Get(key []byte) (value []byte, err error) {
	defer caught(debug.SetPanicOnFault(true), &err)
	if len(key) == 0 {
		return nil, nil
	}
	hash := s.s.hot.hash(key)
	if m := s.pending(key, hash); m != nil {
		return m.Value, nil
	}
	if value, ok := s.s.hot.get(key, hash, s.mark.Version); ok {
		return value, nil
	}
	if p, ok := s.s.pointers.find(key, hash, s.mark.Version); ok {
		if value := s.s.values.Find(p, key); value != nil {
			return value, nil
		}
	}
	value = s.s.rows.get(key, hash, s.mark.Version)
	known := value != nil
	if !known {
		if value, err = s.read(key, hash); err != nil {
			return nil, broken(err)
		}
	}
	switch {
	case s.write || s.s.hot.again(hash):
		s.s.hot.put(key, value, hash, s.mark.Version)
	case !known:
		s.s.rows.put(key, value, hash, s.mark.Version)
	}
	return value, nil
}

// read returns the value that the tables and files have of a key, nil if there is none.
func (s *snapshot) read(key []byte, hash uint64) ([]byte, error) {
	item, err := s.txn.Get(key)
	switch {
	case errors.Is(err, badger.ErrKeyNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	value, at, err := s.s.load(item, nil)
	if err == nil && at.File != 0 { // the item is ours alone, so its value is as well
		s.s.pointers.learn(key, hash, at, item.Version(), s.mark.Version)
	}
	return value, err
}

// pending returns the last write of a key that may not be in Badger yet, nil if there is none.
func (s *snapshot) pending(key []byte, hash uint64) *kv.Mutation {
	for i := len(s.runs) - 1; i >= 0; i-- {
		if m := s.runs[i].get(key, hash); m != nil {
			return m
		}
	}
	return nil
}

// GetMany returns the values of keys.
func (s *snapshot) GetMany(keys [][]byte) (values [][]byte, err error) {
	values = make([][]byte, len(keys))
	for i, k := range keys {
		if values[i], err = s.Get(k); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// Scan walks a range.
func (s *snapshot) Scan(r kv.Range) kv.Cursor {
	var tops [][]kv.Mutation
	for _, run := range slices.Backward(s.runs) {
		if rows := run.within(r); len(rows) > 0 {
			tops = append(tops, rows)
		}
	}
	left := r.Limit
	if left <= 0 {
		left = -1
	}
	o := badger.IteratorOptions{Reverse: r.Reverse, Prefix: common(r.Start, r.End)}
	if len(tops) == 0 {
		c := &cursor{r: r, left: left}
		s.walk(c, o)
		return c
	}
	c := &overlay{cursor: cursor{r: r, left: -1}, tops: tops, left: left, behind: true}
	s.walk(&c.cursor, o)
	return c
}

// walk opens the iterator of a cursor.
func (s *snapshot) walk(c *cursor, o badger.IteratorOptions) {
	defer caught(debug.SetPanicOnFault(true), &c.err)
	c.s, c.it = s.s, s.txn.NewIterator(o)
}

// Commit writes a batch.
func (s *snapshot) Commit(ctx context.Context, b *kv.Batch) error {
	if !s.write {
		return fault.Invalid.Errorf("transaction: is read-only")
	}
	if err := b.Guard(s); err != nil {
		return err
	}
	return s.s.commit(ctx, s.mark.Version, b)
}

// Discard closes the snapshot.
func (s *snapshot) Discard() {
	if s.txn != nil {
		s.txn.Discard()
		s.txn = nil
		s.s.history.End(s.mark, s.write)
		s.s.open.Done()
	}
}

// cursor walks the rows of a snapshot.
type cursor struct {
	s          *store
	it         *badger.Iterator
	r          kv.Range
	left       int // rows still wanted, negative for all
	begun      bool
	key, value []byte
	chunk      []byte // room for the next rows
	size       int    // of the last chunk
	err        error
}

// The sizes of the chunks that a cursor keeps its rows in: few rows need little.
const (
	firstChunk   = 256
	largestChunk = 16 << 10
)

// room returns a slice of n bytes for a row.
func (c *cursor) room(n int) []byte {
	if n > len(c.chunk) {
		c.size = max(n, min(largestChunk, max(firstChunk, 4*c.size)))
		c.chunk = make([]byte, c.size)
	}
	b := c.chunk[:n:n]
	c.chunk = c.chunk[n:]
	return b
}

// Next moves to the next row.
func (c *cursor) Next() bool { return c.step() && c.load() }

// step moves to the next row without its value.
func (c *cursor) step() bool {
	defer caught(debug.SetPanicOnFault(true), &c.err)
	if c.err != nil || c.left == 0 {
		return false
	}
	if !c.begun {
		c.begun = true
		c.seek()
	} else {
		c.it.Next()
	}
	if !c.it.Valid() {
		c.left = 0
		return false
	}
	key := c.it.Item().Key()
	if c.r.Reverse && bytes.Compare(key, c.r.Start) < 0 || !c.r.Reverse && c.r.End != nil && bytes.Compare(key, c.r.End) >= 0 {
		c.left = 0
		return false
	}
	if c.left > 0 {
		c.left--
	}
	c.key = c.room(len(key))
	copy(c.key, key)
	return true
}

// load takes the value of the row.
func (c *cursor) load() bool {
	if c.r.KeysOnly {
		return true
	}
	defer caught(debug.SetPanicOnFault(true), &c.err)
	v, _, err := c.s.load(c.it.Item(), c.room)
	if err != nil {
		c.err = broken(err)
		return false
	}
	c.value = v
	return true
}

// seek moves to the first row of the range.
func (c *cursor) seek() {
	if !c.r.Reverse {
		c.it.Seek(c.r.Start)
		return
	}
	if c.r.End == nil {
		c.it.Rewind()
		return
	}
	// The iterator's own prefix would hide a row at End, which has to be skipped.
	c.it.Seek(c.r.End)
	if c.it.Valid() && bytes.Equal(c.it.Item().Key(), c.r.End) {
		c.it.Next()
	}
}

// Key is the present key.
func (c *cursor) Key() []byte { return c.key }

// Value is the present value.
func (c *cursor) Value() ([]byte, error) { return c.value, nil }

// Err is what ended the walk early.
func (c *cursor) Err() error { return c.err }

// Close releases the tables.
func (c *cursor) Close() {
	if c.it != nil {
		c.it.Close()
		c.it = nil
	}
}

// common is the beginning that all keys of [start, end] share, so that only tables
// with such keys are opened.
func common(start, end []byte) []byte {
	n := 0
	for n < len(start) && n < len(end) && start[n] == end[n] {
		n++
	}
	return start[:n]
}

// caught turns a panic, which Badger answers to damaged tables, into an error. So is a page of a mapped file that the disk
// cannot read: debug.SetPanicOnFault, whose result is given, keeps that from ending the process. It holds for one goroutine
// and costs a few nanoseconds.
func caught(was bool, err *error) {
	debug.SetPanicOnFault(was)
	if r := recover(); r != nil {
		*err = corrupt("store: reading a table: %.200v", r)
	}
}

// broken marks an error of Badger.
func broken(err error) error {
	if err == nil {
		return nil
	}
	return fault.Internal.Errorf("store: %w", err)
}

package storagetest

import (
	"context"
	"sync/atomic"

	"catena/storage/kv"
)

// Counted is a store that counts what is read from it: snapshots, keys, ranges, and rows of these.
type Counted struct {
	kv.Store
	Begun, Keys, Scans, Rows atomic.Int64
}

type countedSnapshot struct {
	kv.Snapshot
	of *Counted
}

type countedCursor struct {
	kv.Cursor
	of *Counted
}

// Reset has everything but snapshots counted from zero.
func (c *Counted) Reset() {
	c.Keys.Store(0)
	c.Scans.Store(0)
	c.Rows.Store(0)
}

// Begin opens a snapshot whose reads are counted.
func (c *Counted) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	c.Begun.Add(1)
	s, err := c.Store.Begin(ctx, write)
	return countedSnapshot{s, c}, err
}

func (s countedSnapshot) Get(key []byte) ([]byte, error) {
	s.of.Keys.Add(1)
	return s.Snapshot.Get(key)
}

func (s countedSnapshot) GetMany(keys [][]byte) ([][]byte, error) {
	s.of.Keys.Add(int64(len(keys)))
	return s.Snapshot.GetMany(keys)
}

func (s countedSnapshot) Scan(r kv.Range) kv.Cursor {
	s.of.Scans.Add(1)
	return countedCursor{s.Snapshot.Scan(r), s.of}
}

func (c countedCursor) Next() bool {
	c.of.Rows.Add(1)
	return c.Cursor.Next()
}

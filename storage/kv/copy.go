package kv

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"

	"catena/storage/fault"
)

// Loader is a Store that takes many rows faster than a transaction writes them.
type Loader interface {
	// Load adds rows with their stored values, all of them or none. Their keys are sorted and must be absent.
	Load(ctx context.Context, rows []Row) error
}

// Holder is a Store that can be opened for one process alone.
type Holder interface {
	// Held returns why others may have had access since it was opened, or nil.
	Held(ctx context.Context) error
}

// copyMark is in a store while rows are copied into it. No other key is lower, so the rest of an interrupted copy is what
// the source has above the highest key of the target.
var copyMark = []byte("\x00copy")

// ownMark begins the keys of rows that describe a store, and not what is in it: copies and dumps leave them out.
var ownMark = []byte("\x00own\x00")

// OwnKey is the key of a row that describes the store itself, which copies and dumps do not have. Parts of a store share it.
func OwnKey(name string) []byte { return append(bytes.Clone(ownMark), name...) }

// Identified is a Store that can be told from all others, also from those that have the same rows.
type Identified interface {
	// Identity stays the same as long as the store exists.
	Identity() string
}

// Identity returns what tells the store from others, empty if it lasts only as long as the process.
func (d *DB) Identity() string {
	store := d.store
	if p, ok := store.(*part); ok {
		store = p.Store
	}
	if s, ok := store.(Identified); ok {
		return s.Identity()
	}
	return ""
}

// copyRange is how many rows have one digest.
const copyRange = 10_000

// Copied describes a copy.
type Copied struct {
	Rows      int64 `json:"rows"`
	Bytes     int64 `json:"bytes"`     // of keys and values
	Ranges    int   `json:"ranges"`    // of keys, each of which was compared by its digest
	Continued int64 `json:"continued"` // rows that an interrupted copy had copied before
}

// mark is what the target knows about the source: its size and digest, by which it is found to be the same one.
type mark struct {
	Rows   int64  `json:"rows"`
	Digest []byte `json:"digest"`
}

// Copy fills an empty store with all rows of another one, in transactions of bounded size, compares both, and calls last before
// it declares the copy complete. One that was interrupted continues if the source has not changed. No other process may write
// to either store meanwhile.
func Copy(ctx context.Context, from, to *DB, last func() error) (c Copied, err error) {
	source, err := from.digests(ctx)
	if err != nil {
		return c, err
	}
	c.Rows, c.Bytes, c.Ranges = source.rows, source.bytes, len(source.ranges)
	now := mark{source.rows, source.whole.Sum(nil)}
	before, highest, err := to.copying(ctx)
	switch {
	case err != nil:
		return c, err
	case before == nil && highest != nil: // complete, or something else
		if to.compare(ctx, source) == nil {
			c.Continued = c.Rows
			return c, last()
		}
		return c, fault.Exists.Errorf("the target already contains data, which is not an interrupted copy; copy into an empty one")
	case before == nil:
		if err := to.setMark(ctx, now); err != nil {
			return c, err
		}
	case before.Rows != now.Rows || !bytes.Equal(before.Digest, now.Digest):
		return c, fault.Conflict.Errorf("the target contains an interrupted copy of another source, or the source has changed since; copy into an empty one")
	}
	n, err := from.pour(ctx, to, highest)
	if err != nil {
		return c, err
	}
	c.Continued = c.Rows - n
	if err := to.compare(ctx, source); err != nil {
		return c, err
	}
	if err := last(); err != nil {
		return c, err
	}
	if err := cmp.Or(from.held(ctx), to.held(ctx)); err != nil {
		return c, err
	}
	return c, to.Update(ctx, func(t *Tx) error { return t.Delete(copyMark) })
}

// held returns why the store is not held by this process any longer, if it has to be.
func (d *DB) held(ctx context.Context) error {
	if h, ok := d.store.(Holder); ok {
		return h.Held(ctx)
	}
	return nil
}

// Copying reports whether the store has a part of the rows of another one, because a copy was interrupted.
func (d *DB) Copying(ctx context.Context) (bool, error) {
	m, _, err := d.copying(ctx)
	return m != nil, err
}

// copying returns the mark of an interrupted copy, nil if there is none, and the highest key besides, nil if there are no rows.
func (d *DB) copying(ctx context.Context) (m *mark, last []byte, err error) {
	err = d.View(ctx, func(t *Tx) error {
		m, last = nil, nil
		v, err := t.Get(copyMark)
		if err != nil {
			return err
		}
		if v != nil {
			m = &mark{}
			if err := json.Unmarshal(v, m); err != nil {
				return fault.Internal.Errorf("mark of a copy: %w", err)
			}
		}
		for row, err := range t.Scan(Range{Start: append(bytes.Clone(copyMark), 0), Reverse: true, Limit: 1, KeysOnly: true}) {
			if err != nil {
				return err
			}
			last = bytes.Clone(row.Key)
		}
		return nil
	})
	return m, last, err
}

func (d *DB) setMark(ctx context.Context, m mark) error {
	v, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return d.Update(ctx, func(t *Tx) error { return t.Set(copyMark, v) })
}

// pour copies the rows above a key, and returns how many.
func (d *DB) pour(ctx context.Context, to *DB, above []byte) (n int64, err error) {
	var rows []Row
	size := 0
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		if err := to.add(ctx, rows); err != nil {
			return err
		}
		n += int64(len(rows))
		rows, size = nil, 0
		return nil
	}
	err = d.each(ctx, above, func(r Row) error {
		if rows, size = append(rows, r), size+len(r.Key)+len(r.Value); size < loadBytes && len(rows) < loadRows {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return n, err
}

// add commits rows with their stored values, whose keys are absent.
func (d *DB) add(ctx context.Context, rows []Row) error {
	if l, ok := d.store.(Loader); ok {
		return l.Load(ctx, rows)
	}
	s, err := d.store.Begin(ctx, true)
	if err != nil {
		return err
	}
	defer s.Discard()
	b := Batch{Writes: make([]Mutation, len(rows))}
	for i, r := range rows {
		b.Writes[i] = Mutation{Key: r.Key, Value: r.Value, Fresh: true}
	}
	return s.Commit(ctx, &b)
}

// each calls fn with the rows above a key as they are stored, except the mark of a copy and what describes the store. A damaged
// value ends it.
func (d *DB) each(ctx context.Context, above []byte, fn func(Row) error) error {
	s, err := d.store.Begin(ctx, false)
	if err != nil {
		return err
	}
	defer s.Discard()
	if above == nil {
		above = copyMark
	}
	c := s.Scan(Range{Start: append(bytes.Clone(above), 0)})
	defer c.Close()
	for n := 0; c.Next(); n++ {
		if n%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if bytes.HasPrefix(c.Key(), ownMark) {
			continue
		}
		stored, err := c.Value()
		if err != nil {
			return err
		}
		if _, err := unseal(c.Key(), stored); err != nil {
			return err
		}
		if err := fn(Row{c.Key(), stored}); err != nil {
			return err
		}
	}
	return c.Err()
}

// digests are those of the rows of a store, of whole ranges and of everything.
type digests struct {
	rows, bytes int64
	ranges      []digest
	whole, part hash.Hash
	first       []byte // key of the range that is not complete
}

// digest is that of a range of keys that begins with first.
type digest struct {
	first []byte
	sum   [sha256.Size]byte
}

func (d *DB) digests(ctx context.Context) (*digests, error) {
	all := newDigests()
	err := d.each(ctx, nil, func(r Row) error { all.add(r); return nil })
	if err == nil {
		all.close()
	}
	return all, err
}

func newDigests() *digests { return &digests{whole: sha256.New(), part: sha256.New()} }

// add takes in the next row, and reports whether that completed a range.
func (d *digests) add(r Row) (complete bool) {
	if d.first == nil {
		d.first = bytes.Clone(r.Key)
	}
	head := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(r.Key))), uint64(len(r.Value)))
	for _, b := range [][]byte{head, r.Key, r.Value} {
		d.part.Write(b)
	}
	d.bytes += int64(len(r.Key) + len(r.Value))
	if d.rows++; d.rows%copyRange != 0 {
		return false
	}
	return d.close()
}

// close completes the range, if it has rows.
func (d *digests) close() bool {
	if d.first == nil {
		return false
	}
	g := digest{first: d.first}
	d.part.Sum(g.sum[:0])
	d.ranges = append(d.ranges, g)
	d.whole.Write(g.sum[:])
	d.part.Reset()
	d.first = nil
	return true
}

// compare returns why the rows of the store are not those of another one, or nil.
func (d *DB) compare(ctx context.Context, want *digests) error {
	got := newDigests()
	same := func() error {
		n := len(got.ranges)
		if n > len(want.ranges) || got.ranges[n-1].sum != want.ranges[n-1].sum {
			return fault.Internal.Errorf("the copy differs from the source in the range of keys from %q: %w", got.ranges[n-1].first, ErrDamaged)
		}
		return nil
	}
	err := d.each(ctx, nil, func(r Row) error {
		if got.add(r) {
			return same()
		}
		return nil
	})
	if err == nil && got.close() {
		err = same()
	}
	if err == nil && got.rows != want.rows {
		err = fault.Internal.Errorf("the copy has %d rows, the source %d: %w", got.rows, want.rows, ErrDamaged)
	}
	return err
}

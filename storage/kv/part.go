package kv

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"catena/storage/fault"
)

// partMark begins the keys of parts: the mark, the part's name, a zero byte, and the key as the part's
// own transactions know it.
var partMark = []byte("\x00part\x00")

// maxPartName bounds the name of a part, in bytes, and partRoom how much longer its keys are in the store.
const (
	maxPartName = 64
	partRoom    = maxPartName + 7
)

// Part returns a DB on a part of the same store. Closing it leaves the store open.
func (d *DB) Part(name string, shared func(key []byte) bool) (*DB, error) {
	s, err := Part(d.store, name, shared)
	if err != nil {
		return nil, err
	}
	return New(s, d.opts), nil
}

// Part returns a store whose keys are its own, except those that shared selects: these are the same rows
// for s and all its parts, and one transaction writes both kinds. A scan stays on the side its start is on.
func Part(s Store, name string, shared func(key []byte) bool) (Store, error) {
	if name == "" || len(name) > maxPartName || strings.IndexByte(name, 0) >= 0 {
		return nil, fault.Invalid.Errorf("part %q: a name must have 1 to %d bytes", name, maxPartName)
	}
	return &part{Store: s, prefix: slices.Concat(partMark, []byte(name), []byte{0}), shared: shared}, nil
}

// local is the key as its own transactions know it: what a value's checksum is made with, so that a dump of
// the whole store and a part read the same rows.
func local(key []byte) []byte {
	if len(key) == 0 || key[0] != 0 || !bytes.HasPrefix(key, partMark) {
		return key
	}
	rest := key[len(partMark):]
	return rest[bytes.IndexByte(rest, 0)+1:]
}

// part is the store as a part sees it.
type part struct {
	Store
	prefix []byte
	shared func(key []byte) bool
}

// common reports whether a key is that of the whole store.
func (p *part) common(key []byte) bool {
	return len(key) > 0 && (key[0] == 0 || p.shared(key))
}

// key is where a key of the part is in the store.
func (p *part) key(k []byte) []byte {
	if p.common(k) {
		return k
	}
	return slices.Concat(p.prefix, k)
}

// span is where a range of the part is in the store.
func (p *part) span(start, end []byte) (from, to []byte) {
	if p.common(start) {
		return start, end
	}
	own := p.own(Span{start, end})
	return own.Start, own.End
}

// own is where the part's own rows of a range are.
func (p *part) own(s Span) Span {
	if s.End == nil {
		return Span{slices.Concat(p.prefix, s.Start), prefixEnd(p.prefix)}
	}
	return Span{slices.Concat(p.prefix, s.Start), slices.Concat(p.prefix, s.End)}
}

// Begin opens a snapshot of the part.
func (p *part) Begin(ctx context.Context, write bool) (Snapshot, error) {
	return p.snapshot(p.Store.Begin(ctx, write))
}

// BeginAlone opens a snapshot of the part for a transaction that has lost often.
func (p *part) BeginAlone(ctx context.Context) (Snapshot, error) {
	if l, ok := p.Store.(Loner); ok {
		return p.snapshot(l.BeginAlone(ctx))
	}
	return p.Begin(ctx, true)
}

func (p *part) snapshot(s Snapshot, err error) (Snapshot, error) {
	if err != nil {
		return nil, err
	}
	own := &partSnapshot{Snapshot: s, part: p}
	if r, ok := s.(Remote); ok {
		return &remotePart{own, r}, nil
	}
	return own, nil
}

// Writable returns why writes would be refused now, or nil.
func (p *part) Writable() error {
	if g, ok := p.Store.(Gauge); ok {
		return g.Writable()
	}
	return nil
}

// Warm says that the rows of a range will be read one by one.
func (p *part) Warm(r Range) {
	if w, ok := p.Store.(Warmer); ok {
		r.Start, r.End = p.span(r.Start, r.End)
		w.Warm(r)
	}
}

// Close leaves the store to the DB that the part is of.
func (p *part) Close() error { return nil }

type partSnapshot struct {
	Snapshot
	part *part
}

func (s *partSnapshot) Get(key []byte) ([]byte, error) { return s.Snapshot.Get(s.part.key(key)) }

func (s *partSnapshot) GetMany(keys [][]byte) ([][]byte, error) {
	return s.Snapshot.GetMany(s.part.keys(keys))
}

func (s *partSnapshot) Scan(r Range) Cursor {
	own := !s.part.common(r.Start)
	r.Start, r.End = s.part.span(r.Start, r.End)
	c := s.Snapshot.Scan(r)
	if own {
		return &partCursor{Cursor: c, cut: len(s.part.prefix)}
	}
	return c
}

func (p *part) keys(keys [][]byte) [][]byte {
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i] = p.key(k)
	}
	return out
}

// Commit hands the batch on under the keys of the store, in their order there.
func (s *partSnapshot) Commit(ctx context.Context, b *Batch) error {
	p := s.part
	there := Batch{Writes: slices.Clone(b.Writes), Wake: b.Wake, Strict: b.Strict}
	for i := range there.Writes {
		there.Writes[i].Key = p.key(there.Writes[i].Key)
	}
	slices.SortFunc(there.Writes, func(a, b Mutation) int { return bytes.Compare(a.Key, b.Key) })
	there.Reads.Keys = p.keys(b.Reads.Keys)
	slices.SortFunc(there.Reads.Keys, bytes.Compare)
	for _, r := range b.Reads.Spans {
		from, to := p.span(r.Start, r.End)
		there.Reads.Spans = append(there.Reads.Spans, Span{from, to})
		switch ours, theirs := p.common(r.Start), p.common(r.End); { // spans that touched were joined
		case theirs && !ours:
			there.Reads.Spans = append(there.Reads.Spans, r)
		case ours && !theirs:
			there.Reads.Spans = append(there.Reads.Spans, p.own(r))
		}
	}
	slices.SortFunc(there.Reads.Spans, func(a, b Span) int { return bytes.Compare(a.Start, b.Start) })
	return s.Snapshot.Commit(ctx, &there)
}

// remotePart is a part of a store across a network.
type remotePart struct {
	*partSnapshot
	remote Remote
}

// Prefetch fetches keys and rows under the keys of the store.
func (s *remotePart) Prefetch(keys [][]byte, ranges []Range) error {
	there := make([]Range, len(ranges))
	for i, r := range ranges {
		there[i] = r
		there[i].Start, there[i].End = s.part.span(r.Start, r.End)
		there[i].Follow = s.part.keys(r.Follow)
	}
	return s.remote.Prefetch(s.part.keys(keys), there)
}

// Late is not noted: a part has no optimistic snapshots.
func (s *remotePart) Late() (late Asked, ok bool) { return Asked{}, false }

// Count counts the rows of a range.
func (s *remotePart) Count(r Range) (int, error) {
	r.Start, r.End = s.part.span(r.Start, r.End)
	return s.remote.Count(r)
}

// Latest returns the committed value of a key.
func (s *remotePart) Latest(key []byte) ([]byte, error) { return s.remote.Latest(s.part.key(key)) }

// RoundTrips is how often the transaction has waited for the store.
func (s *remotePart) RoundTrips() int { return s.remote.RoundTrips() }

// Untouched reports whether nothing has been read yet.
func (s *remotePart) Untouched() bool { return s.remote.Untouched() }

// Stamp returns a number for a row.
func (s *remotePart) Stamp() (uint64, error) { return s.remote.Stamp() }

// Settled is the lowest stamp of those whose transactions may not have ended.
func (s *remotePart) Settled() (uint64, error) { return s.remote.Settled() }

// Broken returns why the snapshot cannot be read any longer, or nil.
func (s *remotePart) Broken() error { return s.remote.Broken() }

// partCursor walks rows that are the part's own.
type partCursor struct {
	Cursor
	cut int
}

func (c *partCursor) Key() []byte { return c.Cursor.Key()[c.cut:] }

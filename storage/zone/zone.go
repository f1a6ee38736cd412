// Package zone makes zone maps of runs of audit records: which values occur in which part of the run, so that a search
// skips the parts that cannot have what it looks for. A map may say that a part has a value which it lacks, never the
// other way round. What a run is, and where maps are kept, is left to the package storage.
package zone

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"strings"
)

// The fields of records that a map covers.
const (
	Event byte = iota
	Category
	User
	Type
	State
	Source
	shallow // paths of few names, which many others begin with
	Path    // by its beginnings, see cut
	fields
)

// The limits of a map.
const (
	MaxParts = 64  // parts of a run
	most     = 512 // values of one field; a map with more says nothing of the field
	deepest  = 4   // names of the beginning of a path
	few      = 2   // names of a shallow path
)

// Parts is a set of parts of a run.
type Parts uint64

// All are all parts, also those that a run does not have.
const All = ^Parts(0)

// Range is the smallest and the greatest of some numbers.
type Range struct{ Min, Max int64 }

func (r *Range) add(n int64) { r.Min, r.Max = min(r.Min, n), max(r.Max, n) }

// Record is what a map says of a record: the values of its fields, its number, and when it was logged.
type Record struct {
	Values     [fields]string
	ID, Logged int64
}

// Builder makes the map of a run.
type Builder struct {
	values      [fields]map[string]Parts
	depth       int
	ids, logged Range
	starts      []byte
	parts, n    int
}

// Begin begins a part at a place in the log.
func (b *Builder) Begin(start [16]byte) {
	b.starts = append(b.starts, start[:]...)
	b.parts++
}

// Parts returns how many parts were begun.
func (b *Builder) Parts() int { return b.parts }

// Records returns how many records were added.
func (b *Builder) Records() int { return b.n }

// Add adds a record to the last part.
func (b *Builder) Add(r *Record) {
	if b.n == 0 {
		b.ids, b.logged, b.depth = Range{r.ID, r.ID}, Range{r.Logged, r.Logged}, deepest
		for f := range b.values {
			b.values[f] = map[string]Parts{}
		}
	}
	b.n++
	b.ids.add(r.ID)
	b.logged.add(r.Logged)
	in := Parts(1) << (b.parts - 1)
	for f := range shallow {
		b.add(f, r.Values[f], in)
	}
	if p := r.Values[Path]; isShallow(p) {
		b.add(shallow, p, in)
	}
	b.path(r.Values[Path], in)
}

func (b *Builder) add(field byte, value string, in Parts) {
	if b.values[field] == nil {
		return
	}
	b.values[field][value] |= in
	if len(b.values[field]) > most {
		b.values[field] = nil
	}
}

func isShallow(path string) bool { return len(cut(path, few)) == len(path) }

// path adds the beginnings of a path. If they are too many, those that are deepest are given up.
func (b *Builder) path(p string, in Parts) {
	for level := 1; level <= b.depth; level++ {
		beginning := cut(p, level)
		b.values[Path][beginning] |= in
		if len(beginning) == len(p) {
			break
		}
	}
	for ; len(b.values[Path]) > most && b.depth > 0; b.depth-- {
		for known := range b.values[Path] {
			if b.depth == 1 || len(cut(known, b.depth-1)) < len(known) {
				delete(b.values[Path], known)
			}
		}
	}
}

// cut returns a path up to the slash behind so many names, the whole of one that has no more.
func cut(p string, names int) string {
	for i := 1; i < len(p); i++ {
		if p[i] != '/' {
			continue
		}
		if names--; names == 0 {
			return p[:i]
		}
	}
	return p
}

// format is the first byte of a map.
const format = 1

// The sizes of what a map has: the head, the beginning of a part, and a value with the parts that have it.
const (
	headSize  = 1 + 1 + 1 + 1 + 4 + 4*8
	startSize = 16
	valueSize = 4 + 8
)

// Bytes returns the map.
func (b *Builder) Bytes() []byte {
	unknown, all := byte(0), map[uint32]Parts{}
	for f, values := range b.values {
		if values == nil {
			unknown |= 1 << f
		}
		for v, in := range values {
			all[hash(byte(f), v)] |= in
		}
	}
	hashes := make([]uint32, 0, len(all))
	for h := range all {
		hashes = append(hashes, h)
	}
	slices.Sort(hashes)
	out := make([]byte, 0, headSize+len(b.starts)+len(hashes)*valueSize)
	out = append(out, format, byte(b.parts), unknown, byte(b.depth))
	out = binary.BigEndian.AppendUint32(out, uint32(b.n))
	for _, n := range [...]int64{b.ids.Min, b.ids.Max, b.logged.Min, b.logged.Max} {
		out = binary.BigEndian.AppendUint64(out, uint64(n))
	}
	out = append(out, b.starts...)
	for _, h := range hashes {
		out = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(out, h), uint64(all[h]))
	}
	return out
}

// hash is FNV-1a: it is stored, so it must stay the same.
func hash(field byte, value string) uint32 {
	h := (uint32(2166136261) ^ uint32(field)) * 16777619
	for i := range len(value) {
		h = (h ^ uint32(value[i])) * 16777619
	}
	return h
}

// Map is the map of a run.
type Map struct {
	Records     int
	IDs, Logged Range

	parts, depth   int
	unknown        byte
	starts, values []byte
}

var errFormat = errors.New("zone map: cannot be read")

// Parse reads a map, which keeps b.
func Parse(b []byte) (m Map, err error) {
	if len(b) < headSize || b[0] != format {
		return m, errFormat
	}
	m.parts, m.unknown, m.depth, m.Records = int(b[1]), b[2], int(b[3]), int(binary.BigEndian.Uint32(b[4:]))
	number := func(i int) int64 { return int64(binary.BigEndian.Uint64(b[8+8*i:])) }
	m.IDs, m.Logged = Range{number(0), number(1)}, Range{number(2), number(3)}
	rest := b[headSize:]
	if m.parts == 0 || m.parts > MaxParts || len(rest) < m.parts*startSize || (len(rest)-m.parts*startSize)%valueSize != 0 {
		return m, errFormat
	}
	m.starts, m.values = rest[:m.parts*startSize], rest[m.parts*startSize:]
	return m, nil
}

// Parts returns the parts of the run.
func (m *Map) Parts() Parts { return All >> (MaxParts - m.parts) }

// Start returns where a part begins.
func (m *Map) Start(part int) []byte { return m.starts[part*startSize:][:startSize] }

// With returns the parts that may have a record with one of the values in a field.
func (m *Map) With(field byte, values ...string) (in Parts) {
	for _, v := range values {
		if field == Path {
			in |= m.path(v)
		} else {
			in |= m.known(field, v)
		}
	}
	return in
}

func (m *Map) known(field byte, value string) Parts {
	if m.unknown>>field&1 != 0 {
		return All
	}
	return m.find(hash(field, value))
}

func (m *Map) path(p string) Parts {
	if isShallow(p) && m.unknown>>shallow&1 == 0 {
		return m.find(hash(shallow, p))
	}
	return m.beginning(p)
}

func (m *Map) beginning(p string) Parts {
	if m.depth == 0 {
		return All
	}
	return m.find(hash(Path, cut(p, m.depth)))
}

// PathsFrom returns the parts that may have a record whose path begins with a text.
func (m *Map) PathsFrom(text string) Parts {
	// What follows the last slash may be a part of a name, which paths have no beginning for.
	end := strings.LastIndexByte(text, '/')
	if end < 1 {
		return All
	}
	return m.beginning(text[:end])
}

func (m *Map) find(h uint32) Parts {
	low, high := 0, len(m.values)/valueSize
	for low < high {
		if mid := (low + high) / 2; binary.BigEndian.Uint32(m.values[mid*valueSize:]) < h {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low*valueSize == len(m.values) || binary.BigEndian.Uint32(m.values[low*valueSize:]) != h {
		return 0
	}
	return Parts(binary.BigEndian.Uint64(m.values[low*valueSize+4:]))
}

// Next returns the first run of parts from one on, of which it returns the first and the one behind it. Gaps of up to so many
// parts between them are taken in. Without any left, both are those behind the last.
func (p Parts) Next(from, gap int) (first, end int) {
	rest := p >> from
	if from >= MaxParts || rest == 0 {
		return MaxParts, MaxParts
	}
	first = from + bits.TrailingZeros64(uint64(rest))
	end = first
	for end < MaxParts {
		end += bits.TrailingZeros64(^uint64(p >> end))
		zeros := bits.TrailingZeros64(uint64(p >> end))
		if end >= MaxParts || zeros > gap || p>>end == 0 {
			break
		}
		end += zeros
	}
	return first, min(end, MaxParts)
}

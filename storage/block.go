package storage

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/jsontext"
	"catena/storage/schema"
)

// block holds the properties of one schema: the stored JSON members, and the values
// that were asked for or set since.
type block struct {
	shape   *shape
	raw     []byte // `"dc:title":"x","dc:source":"y"`, a member for each field that is set; nil: none is
	runs    []byte // where members are missing in raw: see appendStored
	same    bool   // raw was written by the schema as it is now, so its members are in order
	blobs   bool   // raw holds a blob
	asked   bool   // a property was asked for
	*opened        // nil until one is set, or asked for after another
}

// opened is what is known of a block's fields, by position.
type opened struct {
	at   [][]byte // the members in raw; nil: not looked for
	vals []value  // nil: none is known
}

type value struct {
	v     any
	known bool // v is decoded or set
	dirty bool // v was set
}

// member returns the stored JSON of a field, nil if there is none.
func (b *block) member(i int) []byte {
	if b.raw == nil {
		return nil
	}
	if o := b.open(); o.at == nil {
		b.split()
	}
	return b.at[i]
}

func (b *block) open() *opened {
	if b.opened == nil {
		b.opened = &opened{}
	}
	return b.opened
}

// split finds the members in raw.
func (b *block) split() {
	b.at = make([][]byte, len(b.shape.Fields))
	b.walk(func(i int, raw []byte) bool {
		b.at[i] = raw
		return true
	})
}

// walk calls f with each member in raw while it returns true.
func (b *block) walk(f func(i int, raw []byte) bool) {
	rest, next := b.raw, 0
	for len(rest) > 2 {
		end := bytes.IndexByte(rest[1:], '"')
		if end < 0 || end+3 > len(rest) {
			return
		}
		key := rest[1 : end+1]
		rest = rest[end+3:]
		size := jsontext.Len(rest)
		if i := b.field(key, next); i >= 0 {
			if !f(i, rest[:size:size]) {
				return
			}
			next = i + 1
		}
		if size >= len(rest) {
			return
		}
		rest = rest[size+1:]
	}
}

// field finds a field by key, first from where it is expected.
func (b *block) field(key []byte, from int) int {
	fields := b.shape.Fields
	for i := from; i < len(fields); i++ {
		if fields[i].Key == string(key) {
			return i
		}
	}
	for i := range min(from, len(fields)) {
		if fields[i].Key == string(key) {
			return i
		}
	}
	return -1
}

// get returns the value of a field.
func (b *block) get(r *catalog, i int) (any, error) {
	if b.opened != nil && b.vals != nil && b.vals[i].known {
		return b.vals[i].v, nil
	}
	if b.same && !b.isSet(i) {
		return nil, nil
	}
	var raw []byte
	first := b.opened == nil && !b.asked
	if b.asked = true; first {
		raw = b.find(i)
	} else {
		raw = b.member(i)
	}
	if raw == nil || isUnset(raw) {
		return nil, nil
	}
	v, err := b.shape.Fields[i].ParseJSON(raw)
	if err != nil {
		return nil, err
	}
	if b.shape.blobs[i] {
		v = r.loadBlobs(v)
	}
	if !first || !scalar(v) {
		b.values()[i] = value{v: v, known: true}
	}
	return v, nil
}

// isSet reports whether the runs of raw have a field.
func (b *block) isSet(i int) bool {
	next, runs := 0, layout.Reader{B: b.runs}
	for next <= i && len(runs.B) > 0 {
		next += int(runs.Uvarint())
		if next > i {
			return false
		}
		next += int(runs.Uvarint())
		runs.Uvarint()
	}
	return next > i
}

// find returns the stored JSON of a field as member does, without noting where the others are:
// many documents are asked for one property only.
func (b *block) find(i int) []byte {
	var found []byte
	b.walk(func(at int, raw []byte) bool {
		if at == i {
			found = raw
		}
		return at != i
	})
	return found
}

// scalar reports whether nobody can change v.
func scalar(v any) bool {
	switch v.(type) {
	case string, bool, int64, float64, time.Time:
		return true
	}
	return false
}

func isUnset(raw []byte) bool { return string(raw) == "null" || string(raw) == "[]" }

func (b *block) values() []value {
	o := b.open()
	if o.vals == nil {
		o.vals = make([]value, len(b.shape.Fields))
	}
	return o.vals
}

func (b *block) set(i int, v any) { b.values()[i] = value{v: v, known: true, dirty: true} }

// pending walks the fields that were set and not stored.
func (b *block) pending(yield func(i int, v any) bool) {
	if b.opened == nil {
		return
	}
	for i := range b.vals {
		if b.vals[i].dirty && !yield(i, b.vals[i].v) {
			return
		}
	}
}

func (b *block) dirty() bool {
	for range b.pending {
		return true
	}
	return false
}

// isDirty reports whether a field was set and not stored.
func (b *block) isDirty(i int) bool { return b.opened != nil && b.vals != nil && b.vals[i].dirty }

// changed reports whether a field was set to something other than what is stored.
func (b *block) changed(i int) bool {
	if !b.isDirty(i) {
		return false
	}
	f := b.shape.Fields[i]
	old := b.member(i)
	if old == nil {
		return !schema.Equal(b.vals[i].v, nil)
	}
	return !bytes.Equal(old, f.AppendJSON(nil, b.vals[i].v, nil))
}

// clone is a copy that can be changed without changing b.
func (b *block) clone() block {
	c := *b
	if b.opened != nil {
		c.opened = &opened{at: b.at, vals: slices.Clone(b.vals)}
	}
	return c
}

// store makes raw from the values if one was set.
func (b *block) store(r *catalog) error {
	if !b.dirty() && (b.same || b.raw == nil) {
		return nil
	}
	raw, runs := make([]byte, 0, b.room()), runList{list: make([]byte, 0, 24)}
	blobs := false
	for i, f := range b.shape.Fields {
		start := len(raw)
		if start > 0 {
			raw = append(raw, ',')
		}
		raw = append(raw, '"')
		raw = append(raw, f.Key...)
		raw = append(raw, '"', ':')
		at := len(raw)
		if old := b.member(i); old != nil && b.same && !b.isDirty(i) {
			raw = append(raw, old...)
		} else {
			v, err := b.get(r, i)
			if err != nil {
				return err
			}
			raw = f.AppendJSON(raw, v, nil)
		}
		if isUnset(raw[at:]) {
			raw = raw[:start]
			continue
		}
		runs.add(i, start, len(raw))
		blobs = blobs || b.shape.blobs[i]
	}
	if len(raw) > maxBlock {
		return fault.Limit.Errorf("schema %s: properties of %d bytes, limit %d", b.shape.Name, len(raw), maxBlock)
	}
	if b.raw = raw; len(raw) == 0 {
		b.raw = nil
	}
	b.runs, b.blobs, b.same = runs.end(), blobs, true
	b.open().at = nil
	for i := range b.vals {
		b.vals[i].dirty = false
	}
	return nil
}

// room is about what the block takes once it is stored.
func (b *block) room() int {
	n := len(b.raw)
	for i, v := range b.pending {
		switch v := v.(type) {
		case string:
			n += len(b.shape.Fields[i].Key) + len(v) + 8
		case nil:
		default:
			n += len(b.shape.Fields[i].Key) + 32
		}
	}
	return n
}

// maxBlock keeps a record below the largest value the store takes.
const maxBlock = 900 << 10

func (b *block) append(dst []byte) []byte {
	dst = layout.AppendText(dst, b.shape.Name)
	if b.blobs {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	dst = binary.BigEndian.AppendUint32(dst, b.shape.hash)
	dst = append(binary.AppendUvarint(dst, uint64(len(b.runs))), b.runs...)
	return append(binary.AppendUvarint(dst, uint64(len(b.raw))), b.raw...)
}

// size is enough for what append writes.
func (b *block) size() int { return len(b.shape.Name) + len(b.runs) + len(b.raw) + 20 }

// appendJSON appends the members of all fields.
func (b *block) appendJSON(r *catalog, dst []byte, more schema.BlobFunc) []byte {
	if (b.same || b.raw == nil) && (!b.blobs || more == nil) && !b.dirty() {
		return b.appendStored(dst)
	}
	for i, f := range b.shape.Fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = append(dst, f.Key...)
		dst = append(dst, '"', ':')
		v, _ := b.get(r, i)
		dst = f.AppendJSON(dst, v, more)
	}
	return dst
}

// runList tells which fields the members of a block are of. A run is fields next to each other that are all
// set: how many before it are not, how many they are, and how many bytes, as uvarints.
type runList struct {
	list           []byte
	skipped, count int // of the last run
	from, to       int // its bytes
	next           int // the field behind it
}

// add adds the member of a field, and where it is with the comma before it.
func (r *runList) add(field, from, to int) {
	if r.count == 0 || field > r.next {
		r.end()
		r.skipped, r.count, r.from = field-r.next, 0, from
		if from > 0 {
			r.from++
		}
	}
	r.count, r.to, r.next = r.count+1, to, field+1
}

// end returns the list.
func (r *runList) end() []byte {
	if r.count > 0 {
		for _, n := range [...]int{r.skipped, r.count, r.to - r.from} {
			r.list = binary.AppendUvarint(r.list, uint64(n))
		}
	}
	return r.list
}

// appendStored appends the members in raw, and between them those of the fields that are not set.
func (b *block) appendStored(dst []byte) []byte {
	sh, next, runs, raw := b.shape, 0, layout.Reader{B: b.runs}, layout.Reader{B: b.raw}
	for len(runs.B) > 0 {
		before := next + int(runs.Uvarint())
		after := before + int(runs.Uvarint())
		if after > len(sh.Fields) {
			break
		}
		dst = append(dst, sh.unset[sh.ends[next]:sh.ends[before]]...)
		dst = append(append(dst, raw.Take(int(runs.Uvarint()))...), ',')
		raw.Take(1)
		next = after
	}
	dst = append(dst, sh.unset[sh.ends[next]:]...)
	return dst[:len(dst)-1]
}

// loadBlobs joins the blobs in a stored value with their content.
func (r *Repo) loadBlobs(v any) any {
	switch v := v.(type) {
	case *blob.Blob:
		if v == nil {
			return v
		}
		return r.loadFile(v)
	case []any:
		for i := range v {
			v[i] = r.loadBlobs(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = r.loadBlobs(v[k])
		}
	}
	return v
}

package search

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
)

// cursor is where a page ended: how many results came before, and either the encoded values
// of ORDER BY and the id of the last one, or the name of the access path and the key of its row.
// The total counted for the first page goes along.
type cursor struct {
	passed int
	total  int // -1: not known
	more   bool
	access string
	key    []byte
}

func (c *cursor) String() string {
	b := binary.AppendUvarint(nil, uint64(c.passed))
	b = binary.AppendVarint(b, int64(c.total))
	b = append(b, 0)
	if c.more {
		b[len(b)-1] = 1
	}
	b = layout.AppendText(b, c.access)
	return base64.RawURLEncoding.EncodeToString(append(b, c.key...))
}

func parseCursor(s string) (*cursor, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	in := layout.Reader{B: b}
	c := &cursor{passed: int(in.Uvarint()), total: int(in.Varint())}
	c.more = string(in.Take(1)) == "\x01"
	c.access, c.key = in.Text(), in.B
	if err != nil || in.Bad || c.passed < 0 || c.total < -1 || len(c.key) < 16 {
		return nil, errCursor()
	}
	return c, nil
}

// sortKey encodes what a candidate is ordered by: the values, descending ones inverted, and the
// id in the direction of the last value.
func (r *scan) sortKey(h *candidate) ([]byte, error) {
	key := make([]byte, 0, 64)
	for _, o := range r.p.order {
		v, err := r.value(h, o.Field)
		if err != nil {
			return nil, err
		}
		n := len(key)
		var ok bool
		if key, ok = layout.AppendValue(key, v); !ok {
			return nil, fault.Invalid.Errorf("query: field %s cannot be ordered", o.Field.Name)
		}
		if o.Desc {
			kv.Invert(key[n:])
		}
	}
	n := len(key)
	key = append(key, h.id[:]...)
	if r.p.lastDesc() {
		kv.Invert(key[n:])
	}
	return key, nil
}

func (p *plan) lastDesc() bool { return len(p.order) > 0 && p.order[len(p.order)-1].Desc }

// match is a candidate as callers get it, with what a cursor after it consists of.
type match struct {
	*candidate
	scan *scan
	key  []byte // the sort key, if it is known
}

func (m match) cursor() (c cursor, err error) {
	switch {
	case m.key != nil:
		c.key = m.key
	case len(m.scan.p.order) == 0:
		c.access, c.key = m.scan.path.name, m.candidate.key
	default:
		c.key, err = m.scan.sortKey(m.candidate)
	}
	return c, err
}

// ordered calls visit for every match in the order of the query, from after a cursor on.
func (r *scan) ordered(from *cursor, visit func(m match) (more bool, err error)) error {
	switch {
	case len(r.p.order) == 0:
		return r.unordered(from, visit)
	case !r.p.sorted:
		return r.inMemory(from, visit)
	case len(r.p.order) == 1:
		return r.byIndex(from, visit)
	}
	return r.grouped(from, visit)
}

func (r *scan) unordered(from *cursor, visit func(m match) (bool, error)) error {
	var after []byte
	if from != nil {
		if from.access != r.path.name {
			return errCursor()
		}
		after = from.key
	}
	return r.each(false, after, func(h *candidate) (bool, error) { return visit(match{candidate: h, scan: r}) })
}

// byIndex is for a single field, whose index has the order, ties included.
func (r *scan) byIndex(from *cursor, visit func(m match) (bool, error)) error {
	var after []byte
	if from != nil {
		var err error
		if after, err = r.rowAt(from.key, true); err != nil {
			return err
		}
	}
	return r.each(r.p.order[0].Desc, after, func(h *candidate) (bool, error) { return visit(match{candidate: h, scan: r}) })
}

// rowAt makes the key of an index row of a sort key, whole or up to the first value.
func (r *scan) rowAt(key []byte, whole bool) ([]byte, error) {
	n := layout.ValueLen(key[:len(key)-16])
	if r.path.parent != nil {
		v, _, err := kv.DecodeInt64(key)
		id := bytes.Clone(key[len(key)-16:])
		if r.p.lastDesc() {
			kv.Invert(id)
		}
		if err != nil {
			return nil, errCursor()
		}
		return layout.ChildPositionKey(*r.path.parent, v, layout.IDAtEnd(id)), nil
	}
	if n == 0 || whole && n != len(key)-16 || (key[0] >= 0x80) != r.p.order[0].Desc {
		return nil, errCursor()
	}
	row := append(bytes.Clone(r.path.prefix), key[:n]...)
	if r.p.order[0].Desc {
		kv.Invert(row[len(r.path.prefix):])
	}
	if !whole {
		return row, nil
	}
	id := bytes.Clone(key[len(key)-16:])
	if r.p.lastDesc() {
		kv.Invert(id)
	}
	return append(row, id...), nil
}

// kept is a match in memory.
type kept struct {
	key       []byte
	candidate candidate
}

// maxKept is how many documents that were read for their order are kept for the page.
const maxKept = 200

// inMemory reads all matches and sorts them.
func (r *scan) inMemory(from *cursor, visit func(m match) (bool, error)) error {
	var all []kept
	err := r.each(false, nil, func(h *candidate) (bool, error) {
		k, err := r.keep(h)
		if err != nil {
			return false, err
		}
		if from == nil || bytes.Compare(k.key, from.key) > 0 {
			all = append(all, k)
		}
		if len(all) > r.t.costs.sort {
			return false, r.unsortable()
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	_, err = r.emit(all, visit)
	return err
}

func (r *scan) unsortable() error {
	return fault.Limit.Errorf("query: more than %d results to sort by %s, which has no index", r.t.costs.sort, r.p.orderText()).WithCode(fault.CodeQueryTooCostly)
}

func (r *scan) keep(h *candidate) (kept, error) {
	key, err := r.sortKey(h)
	k := kept{key, *h}
	if h.doc != nil {
		if r.docs++; r.docs > maxKept {
			k.candidate.doc = nil
		}
	}
	return k, err
}

func (r *scan) emit(all []kept, visit func(m match) (bool, error)) (more bool, err error) {
	slices.SortFunc(all, func(a, b kept) int { return bytes.Compare(a.key, b.key) })
	for i := range all {
		k := &all[i]
		more, err := visit(match{candidate: &k.candidate, scan: r, key: k.key})
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// grouped is for an index that has the order of the first field: rows with the same value
// are sorted by the others.
func (r *scan) grouped(from *cursor, visit func(m match) (bool, error)) error {
	desc := r.p.order[0].Desc
	var after []byte
	if from != nil {
		row, err := r.rowAt(from.key, false)
		if err != nil {
			return err
		}
		if after = row; desc {
			after = kv.Prefix(row).End
		} else if len(after) > 0 {
			after = after[:len(after)-1] // before the first row of the group
		}
	}
	var group []kept
	var first []byte
	more := true
	err := r.each(desc, after, func(h *candidate) (bool, error) {
		k, err := r.keep(h)
		if err != nil {
			return false, err
		}
		if from != nil && bytes.Compare(k.key, from.key) <= 0 {
			return true, nil
		}
		part := k.key[:layout.ValueLen(k.key)]
		if !bytes.Equal(part, first) {
			if more, err = r.emit(group, visit); err != nil || !more {
				return false, err
			}
			group, first = group[:0:0], part
		}
		if group = append(group, k); len(group) > r.t.costs.sort {
			return false, r.unsortable()
		}
		return true, nil
	})
	if err != nil || !more {
		return err
	}
	_, err = r.emit(group, visit)
	return err
}

func (p *plan) orderText() string {
	var b []byte
	for i, o := range p.order {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b = append(b, o.Field.Name...); o.Desc {
			b = append(b, " DESC"...)
		}
	}
	return string(b)
}

// costly names what made a query read too many rows.
func (p *plan) costly(limit int) error {
	about := "FROM"
	for i, from := range p.q.From {
		if i > 0 {
			about += ","
		}
		about += " " + from.Text
	}
	if p.q.Where != nil {
		about = query.Format(p.q.Where)
		if len(about) > 200 {
			about = about[:200] + "…"
		}
	}
	return fault.Limit.Errorf("query: more than %d rows read for %s; no index is selective enough", limit, about).WithCode(fault.CodeQueryTooCostly)
}

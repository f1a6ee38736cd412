package search

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
)

// cursor is where a page ended: how many results came before, and either the encoded values of ORDER BY and
// the id of the last one, or the name of the access path and the key of its row. The total counted for the
// first page goes along. A cursor holds nothing that the principal may not see: its values are those of a
// result. It is not signed, so whatever it contains is checked like other input.
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
	// A key ends with an id of 16 bytes.
	if err != nil || in.Bad || c.passed < 0 || c.total < -1 || len(c.key) < 16 {
		return nil, errCursor()
	}
	return c, nil
}

// sortKey encodes what a candidate is ordered by: the values, descending ones inverted, and the
// id in the direction of the last value.
func (r *scan) sortKey(h *candidate) ([]byte, error) {
	key, err := r.sortValues(h, r.p.order)
	if err != nil {
		return nil, err
	}
	n := len(key)
	key = append(key, h.id[:]...)
	if r.p.idDesc {
		kv.Invert(key[n:])
	}
	return key, nil
}

// sortValues encodes values of a candidate for items of ORDER BY.
func (r *scan) sortValues(h *candidate, order []query.Order) ([]byte, error) {
	key := make([]byte, 0, 64)
	for _, o := range order {
		v, err := r.value(h, o.Field)
		if err != nil {
			return nil, err
		}
		n := len(key)
		var ok bool
		if key, ok = layout.AppendValue(key, v); !ok {
			return nil, fault.Invalid.Errorf("query: field %s cannot be ordered", o.Field.Name)
		}
		// Inverted bytes sort in the opposite direction, so one comparison of bytes orders by several fields.
		if o.Desc {
			kv.Invert(key[n:])
		}
	}
	return key, nil
}

// match is a candidate as callers get it, with what a cursor after it consists of.
type match struct {
	*candidate
	scan *scan
	key  []byte // the sort key, if it is known
}

func (m match) cursor() (c cursor, err error) {
	p := m.scan.p
	switch {
	case m.key != nil:
		c.key = m.key
	case len(p.order) == 0 && !p.byID:
		c.access, c.key = m.scan.path.name, m.candidate.key
	default:
		c.key, err = m.scan.sortKey(m.candidate)
	}
	if len(p.before) > 0 {
		c.key = append(bytes.Clone(p.before), c.key...)
	}
	return c, err
}

// ordered calls visit for every match in the order of the query, from after a cursor on.
func (r *scan) ordered(from *cursor, visit func(m match) (more bool, err error)) error {
	switch {
	case len(r.p.order) == 0 && !r.p.byID:
		return r.unordered(from, visit)
	case r.p.nulls:
		return r.withNulls(from, visit)
	case r.p.total:
		return r.byIndex(from, visit)
	case r.p.lead > 0:
		return r.grouped(from, visit)
	}
	return r.inMemory(from, visit)
}

func (r *scan) unordered(from *cursor, visit func(m match) (bool, error)) error {
	var after []byte
	if from != nil {
		if from.access != r.path.name {
			return errCursor()
		}
		after = from.key
	}
	return r.each(r.p.reverse, after, func(h *candidate) (bool, error) { return visit(match{candidate: h, scan: r}) })
}

// byIndex is for an access path that has the order, ties included.
func (r *scan) byIndex(from *cursor, visit func(m match) (bool, error)) error {
	var after []byte
	if from != nil {
		var err error
		if after, err = r.rowAt(from.key); err != nil {
			return err
		}
	}
	return r.each(r.p.reverse, after, func(h *candidate) (bool, error) { return visit(match{candidate: h, scan: r}) })
}

// rowAt makes the key of the row of a sort key, or what the rows with the same leading values begin with.
func (r *scan) rowAt(key []byte) ([]byte, error) {
	values, err := r.p.split(key)
	if err != nil {
		return nil, err
	}
	id := bytes.Clone(key[len(key)-16:])
	if r.p.idDesc {
		kv.Invert(id)
	}
	switch {
	case r.path.primary:
		return layout.NodeKey(layout.IDAtEnd(id)), nil
	case r.path.top != nil:
		path, _, err := kv.DecodeString(values[0])
		if err != nil {
			return nil, errCursor()
		}
		return []byte(path), nil
	case r.path.ids != nil:
		return id, nil
	case r.path.parent != nil:
		v, _, err := kv.DecodeInt64(values[0])
		if err != nil {
			return nil, errCursor()
		}
		if r.p.total {
			return layout.ChildPositionKey(*r.path.parent, v, layout.IDAtEnd(id)), nil
		}
		return layout.ChildPositionKey(*r.path.parent, v, layout.None)[:len(layout.ChildrenPrefix(*r.path.parent))+8], nil
	}
	if r.path.index != nil {
		r.resume = key
		return r.compoundRow(r.path.bases[0], values, id), nil
	}
	row := bytes.Clone(r.path.prefix)
	n := len(row)
	if row = append(row, values[0]...); r.p.order[0].Desc {
		kv.Invert(row[n:])
	}
	if r.p.total {
		row = append(row, id...)
	}
	return row, nil
}

// split returns the values that a sort key consists of, one for each item of ORDER BY.
func (p *plan) split(key []byte) ([][]byte, error) {
	if len(key) < 16 {
		return nil, errCursor()
	}
	rest := key[:len(key)-16]
	values := make([][]byte, len(p.order))
	for i, o := range p.order {
		n := layout.ValueLen(rest)
		if n == 0 || (rest[0] >= 0x80) != o.Desc {
			return nil, errCursor()
		}
		values[i], rest = rest[:n:n], rest[n:]
	}
	if len(rest) > 0 {
		return nil, errCursor()
	}
	return values, nil
}

// kept is a match in memory.
type kept struct {
	key       []byte
	candidate candidate
}

// maxKept is how many documents that were read for their order are kept for the page.
const maxKept = 200

// sorter collects matches to be sorted. Where only some are wanted, those that come after enough others are forgotten.
type sorter struct {
	scan *scan
	all  []kept
	last []byte // the key from which on none is wanted; nil: all are
}

// add takes a match; from is the cursor that it has to come after, or nil.
func (s *sorter) add(k kept) error {
	if s.last != nil && bytes.Compare(k.key, s.last) > 0 {
		return nil
	}
	s.all = append(s.all, k)
	// Twice as many as wanted are collected before sorting, so that each match is sorted about once on
	// average.
	switch keep := s.scan.keep; {
	case keep == 0 && len(s.all) > s.scan.t.costs.sort:
		return s.scan.unsortable()
	case keep > 0 && len(s.all) >= 2*keep+100:
		s.sort()
		clear(s.all[keep:])
		s.all = s.all[:keep]
		s.last = s.all[keep-1].key
	}
	return nil
}

func (s *sorter) sort() {
	slices.SortFunc(s.all, func(a, b kept) int { return bytes.Compare(a.key, b.key) })
}

// emit calls visit for the matches in order, and forgets them.
func (s *sorter) emit(visit func(m match) (bool, error)) (more bool, err error) {
	s.sort()
	for i := range s.all {
		k := &s.all[i]
		more, err := visit(match{candidate: &k.candidate, scan: s.scan, key: k.key})
		if err != nil || !more {
			return false, err
		}
	}
	s.all, s.last = nil, nil
	return true, nil
}

// inMemory reads all matches and sorts them.
func (r *scan) inMemory(from *cursor, visit func(m match) (bool, error)) error {
	s := sorter{scan: r}
	if r.path.parent != nil && r.shown > 0 {
		r.shown = mostAhead // what children are sorted by is in their documents
	}
	err := r.each(false, nil, func(h *candidate) (bool, error) {
		k, err := r.hold(h)
		if err == nil && (from == nil || bytes.Compare(k.key, from.key) > 0) {
			err = s.add(k)
		}
		return true, err
	})
	if err != nil {
		return err
	}
	_, err = s.emit(visit)
	return err
}

func (r *scan) unsortable() error {
	return fault.Limit.Errorf("query: more than %d results to sort by %s, which has no index", r.t.costs.sort, r.p.orderText()).WithCode(fault.CodeQueryTooCostly)
}

func (r *scan) hold(h *candidate) (kept, error) {
	key, err := r.sortKey(h)
	// The candidate is copied, because the scan reuses it for the next row.
	k := kept{key, *h}
	if h.doc != nil {
		if r.docs++; r.docs > maxKept {
			k.candidate.doc = nil
		}
	}
	return k, err
}

func (p *plan) orderText() string {
	if p.byID {
		return "ecm:uuid"
	}
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

// costly names what made a query read too many rows, or for too long.
func (p *plan) costly(why error, limit int) error {
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
			about = strings.ToValidUTF8(about[:200], "") + "…" // without the beginning of a character
		}
	}
	spent := fmt.Sprintf("more than %d rows read", limit)
	if errors.Is(why, errLong) {
		spent = fmt.Sprintf("reading rows took more than %v", queryTime)
	}
	return fault.Limit.Errorf("query: %s for %s; no index is selective enough", spent, about).WithCode(fault.CodeQueryTooCostly)
}

package kv

import (
	"bytes"
	"iter"

	"catena/storage/kv/tree"
)

// Scan walks a range in key order, the transaction's own writes included as they are
// when the walk begins. The transaction may be written to meanwhile.
func (t *Tx) Scan(r Range) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if err := t.usable(); err != nil {
			yield(Row{}, err)
			return
		}
		if r.End != nil && bytes.Compare(r.Start, r.End) >= 0 {
			return
		}
		m := t.merge(r)
		defer m.base.Close()
		for n := 0; r.Limit <= 0 || n < r.Limit; n++ {
			row, err := m.next()
			if err != nil {
				yield(Row{}, err)
				return
			}
			if row.Key == nil {
				m.seen(nil)
				return
			}
			m.seen(row.Key)
			if n&255 == 255 && t.ctx.Err() != nil {
				yield(Row{}, t.ctx.Err())
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Count counts the rows of a range up to max and reports whether there are more.
func (t *Tx) Count(r Range, max int) (n int, more bool, err error) {
	r.KeysOnly = true
	if r.Limit <= 0 || r.Limit > max {
		r.Limit = max + 1
	}
	if t.remote != nil && !t.wrote(r) {
		n, err = t.countRemote(r)
		return min(n, max), n > max, err
	}
	for _, err := range t.Scan(r) {
		if err != nil {
			return 0, false, err
		}
		if n == max {
			return n, true, nil
		}
		n++
	}
	return n, false, nil
}

// wrote reports whether the transaction has written anything in a range.
func (t *Tx) wrote(r Range) bool {
	c := t.own.Range(r.Start, r.End, false)
	return c.Next()
}

// countRemote has the store count the rows of a range that nothing was written in, up to its limit.
func (t *Tx) countRemote(r Range) (int, error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	if r.End != nil && bytes.Compare(r.Start, r.End) >= 0 {
		return 0, nil
	}
	if t.write {
		t.spans = append(t.spans, reach{Span: Span{Start: bytes.Clone(r.Start), End: bytes.Clone(r.End)}})
	}
	return t.remote.Count(r)
}

// merger joins the rows of the store with the transaction's own writes.
type merger struct {
	t       *Tx
	r       Range
	base    Cursor
	own     tree.Cursor[entry]
	hasBase bool
	hasOwn  bool
	behind  bool // the base row was handed out, its cursor still stands on it
	span    int  // position in t.spans, -1 before the first row
}

func (t *Tx) merge(r Range) *merger {
	m := &merger{t: t, r: r, span: -1}
	if t.write {
		m.r.Start, m.r.End = bytes.Clone(r.Start), bytes.Clone(r.End)
	}
	base := r
	if t.own.Len() > 0 {
		base.Limit = 0 // own deletes may hide any number of rows
		snap := t.own.Snapshot()
		m.own = snap.Range(r.Start, r.End, r.Reverse)
		m.hasOwn = m.own.Next()
	}
	m.base, m.behind = t.snap.Scan(base), true
	return m
}

// next returns the next row, without a key at the end.
func (m *merger) next() (Row, error) {
	for {
		if m.behind {
			m.hasBase, m.behind = m.base.Next(), false
		}
		order := -1
		switch {
		case !m.hasBase && !m.hasOwn:
			return Row{}, m.base.Err()
		case !m.hasBase:
			if err := m.base.Err(); err != nil {
				return Row{}, err
			}
			order = 1
		case m.hasOwn:
			order = bytes.Compare(m.base.Key(), m.own.Key())
			if m.r.Reverse {
				order = -order
			}
		}
		if order < 0 {
			return m.stored()
		}
		if order == 0 {
			m.behind = true
		}
		key, e := m.own.Key(), m.own.Value()
		m.hasOwn = m.own.Next()
		if e.stored == nil {
			continue
		}
		row := Row{Key: key}
		if !m.r.KeysOnly {
			row.Value = e.value()
		}
		return row, nil
	}
}

// stored takes the store's row.
func (m *merger) stored() (row Row, err error) {
	row.Key = m.base.Key()
	if !m.r.KeysOnly {
		if row.Value, err = m.base.Value(); err != nil {
			return Row{}, err
		}
		if row.Value, err = unseal(row.Key, row.Value); err != nil {
			return Row{}, err
		}
	}
	m.behind = true
	return row, nil
}

// seen widens the tracked range up to the key, or to its whole if there is none.
func (m *merger) seen(key []byte) {
	if !m.t.write {
		return
	}
	if m.span < 0 {
		m.span = len(m.t.spans)
		m.t.spans = append(m.t.spans, reach{Span: Span{Start: m.r.Start, End: m.r.End}})
	}
	s := &m.t.spans[m.span]
	switch {
	case key == nil:
		*s = reach{Span: Span{Start: m.r.Start, End: m.r.End}}
	case m.r.Reverse:
		s.Start = key
	default:
		s.End, s.through = key, true
	}
}

// reach is a span that a scan has walked; through says that End itself is in it.
type reach struct {
	Span
	through bool
}

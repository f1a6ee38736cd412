package postgres

import (
	"bytes"

	"catena/storage/kv"
)

// A scan fetches rows in pages that grow, up to about pageBytes.
const (
	firstPage = 64
	maxPage   = 4096
	pageBytes = 4 << 20
)

// cursor walks a range.
type cursor struct {
	s    *snapshot
	r    kv.Range // what is still to be fetched, if more is set
	rows []kv.Row
	at   int // of the present row, -1 before the first
	left int // rows up to the limit, -1 without one
	page int
	more bool
	err  error
}

// Scan walks a range.
func (s *snapshot) Scan(r kv.Range) kv.Cursor {
	c := &cursor{s: s, r: r, at: -1, left: -1, page: firstPage, more: true}
	if r.Limit > 0 {
		c.left = r.Limit
	}
	if f := s.find(r); f != nil {
		c.rows, c.more = f.rows, f.more
		c.passed()
	}
	return c
}

// page adds a query for the rows of a range, at most so many; done gets them, and whether there may be more.
func (s *snapshot) page(b *batch, r kv.Range, most int, done func(rows []kv.Row, more bool)) {
	if r.Limit > 0 {
		most = min(most, r.Limit)
	}
	name, args := scanStatement(r, most)
	var out []kv.Row
	done(nil, false)
	b.add(name, func(row [][]byte) error {
		out = append(out, kv.Row{Key: s.room.own(row[0]), Value: s.room.own(row[1])})
		done(out, len(out) == most)
		return nil
	}, args...)
}

// Next moves to the next row.
func (c *cursor) Next() bool {
	if c.err != nil || c.left == 0 {
		return false
	}
	if c.at++; c.at >= len(c.rows) {
		if !c.more || !c.fetch() {
			return false
		}
	}
	if c.left > 0 {
		c.left--
	}
	return true
}

// fetch reads the next page.
func (c *cursor) fetch() bool {
	most := c.page
	if c.left > 0 {
		most = min(most, c.left)
	}
	r := c.r
	r.Limit = most
	c.s.note(nil, []kv.Range{r})
	c.err = c.s.run(func(b *batch) {
		c.s.page(b, r, most, func(rows []kv.Row, more bool) { c.rows, c.more, c.at = rows, more, 0 })
	})
	if c.err != nil || len(c.rows) == 0 {
		c.more = false
		return false
	}
	c.grow()
	c.passed()
	return true
}

// grow sets the size of the next page by the rows of this one.
func (c *cursor) grow() {
	size := 0
	for _, row := range c.rows {
		size += len(row.Key) + len(row.Value)
	}
	c.page = max(1, min(maxPage, c.page*4, pageBytes*len(c.rows)/max(1, size)))
}

// passed leaves of the range what is behind the rows that are there.
func (c *cursor) passed() {
	if len(c.rows) == 0 || !c.more {
		return
	}
	last := c.rows[len(c.rows)-1].Key
	if c.r.Reverse {
		c.r.End = last
	} else {
		c.r.Start = append(bytes.Clone(last), 0)
	}
}

// Key is the present key.
func (c *cursor) Key() []byte { return c.rows[c.at].Key }

// Value is the present value.
func (c *cursor) Value() ([]byte, error) { return c.rows[c.at].Value, nil }

// Err is what ended the walk early.
func (c *cursor) Err() error { return c.err }

// Close has nothing to release.
func (c *cursor) Close() {}

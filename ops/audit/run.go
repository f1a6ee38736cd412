package audit

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// The bounds of one search.
const (
	maxRead   = 100_000 // records read
	maxSorted = 10_000  // records found, if they are to be sorted by anything but their date
	maxCount  = 10_000  // records counted
	batch     = 1_000   // records read at once
)

// found are the records of one page, and how many there are altogether.
type found struct {
	entries []storage.Entry
	total   int
	more    bool // there are more than total
}

// run finds the records of a page; a size of 0 asks for all of them.
func (s *search) run(c *engine.Ctx, offset, size int) (*found, error) {
	m := &matcher{repository: c.Tx.Repo().Name()}
	out := &found{}
	stored := s.stored()
	// In the order of the store only the records of the page are kept, while the others are just
	// counted. In any other order all that match must be kept for sorting.
	err := s.each(c, func(e storage.Entry) (bool, error) {
		if s.where != nil && !m.match(s.where, &e) {
			return true, nil
		}
		if (size == 0 || !stored) && len(out.entries) == maxSorted {
			return false, fault.Limit.Errorf("query: more than %d audit records; request pages ordered by eventDate", maxSorted).WithCode(fault.CodeQueryTooCostly)
		}
		if !stored || out.total >= offset && (size == 0 || out.total < offset+size) {
			out.entries = append(out.entries, e)
		}
		// Counting goes on beyond maxCount only as far as the page reaches.
		if out.total == maxCount && out.total >= offset+size {
			out.more = true
			return false, nil
		}
		out.total++
		return true, nil
	})
	if err != nil || stored {
		return out, err
	}
	s.sort(m, out.entries)
	from := min(offset, len(out.entries))
	to := len(out.entries)
	if size > 0 {
		to = min(from+size, to)
	}
	out.entries = out.entries[from:to]
	return out, nil
}

// each reads the records that could meet the condition, in the order of the store, until fn
// says that it has enough.
func (s *search) each(c *engine.Ctx, fn func(storage.Entry) (bool, error)) error {
	f := s.filter()
	f.PageOptions = storage.PageOptions{Limit: batch, CountLimit: -1}
	for read := 0; ; {
		page, err := c.Tx.Entries(f)
		if f.DocID != "" && fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			if more, err := fn(e); err != nil || !more {
				return err
			}
		}
		if read += len(page.Entries); !page.HasNext || page.Next == "" {
			return nil
		}
		if read >= maxRead {
			return fault.Limit.Errorf("query: more than %d audit records read; restrict eventDate or docUUID", maxRead).WithCode(fault.CodeQueryTooCostly)
		}
		// Checked once per batch: a caller who has gone must not keep the store busy.
		if err := c.Err(); err != nil {
			return err
		}
		f.After = page.Next
	}
}

// stored reports whether the order asked for is the store's or its reverse.
func (s *search) stored() bool {
	return len(s.order) == 0 || s.order[0].Field.Name == "eventDate" || len(s.order) == 1 && s.order[0].Field.Name == "id"
}

func (s *search) sort(m *matcher, entries []storage.Entry) {
	slices.SortStableFunc(entries, func(a, b storage.Entry) int {
		for _, o := range s.order {
			n := compare(m.value(o.Field.Name, &a), m.value(o.Field.Name, &b))
			if n != 0 && o.Desc {
				return -n
			}
			if n != 0 {
				return n
			}
		}
		return 0
	})
}

package audit

import (
	"cmp"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// The bounds of one search. How many records it reads is bounded by the time of the call.
const (
	maxSorted = 10_000  // records found, if they are to be sorted by anything but their date
	maxCount  = 10_000  // records counted
	maxPage   = 100_000 // pages
	batch     = 1_000   // records of a document read at once
)

// found are the records of one page, and how many there are altogether.
type found struct {
	entries []storage.Entry
	total   int
	more    bool // there are more than total
}

// collector takes in the records of a search.
type collector struct {
	*search
	matcher
	found
	offset, size int
	stored       bool // in the order of the store
	count        bool // of all records, for a total
}

// whole passes over a run of records that all meet the condition, if they precede the page.
func (l *collector) whole(n int) bool {
	if !l.stored || l.total+n > l.offset {
		return false
	}
	l.total += n
	return true
}

// take takes in a record and reports whether it wants more. In the order of the store only the records of the page are
// kept, while the others are just counted. In any other order all that match must be kept for sorting.
func (l *collector) take(e storage.Entry) (bool, error) {
	if l.where != nil && !l.match(l.where, &e) {
		return true, nil
	}
	end := l.offset + l.size
	all := l.size == 0 || !l.stored
	if all && len(l.entries) == maxSorted {
		return false, fault.Limit.Errorf("query: more than %d audit records; request pages ordered by eventDate", maxSorted).WithCode(fault.CodeQueryTooCostly)
	}
	if !l.stored || l.total >= l.offset && (all || l.total < end) {
		l.entries = append(l.entries, e)
	}
	// Counting goes on beyond maxCount only as far as the page reaches.
	if l.total == max(maxCount, end) {
		l.more = true
		return false, nil
	}
	l.total++
	return all || l.count || l.total < end, nil
}

// run finds the records of a page; a size of 0 asks for all of them. Without a count, it may end with the page.
func (s *search) run(c *engine.Ctx, offset, size int, count bool) (*found, error) {
	stored := s.stored()
	l := &collector{search: s, matcher: matcher{repository: c.Tx.Repo().Name()}, offset: offset, size: size, stored: stored, count: count}
	f := s.filter()
	f.Whole = l.whole
	err := each(c, f, l.take)
	out := &l.found
	if err != nil || stored {
		return out, err
	}
	s.sort(&l.matcher, out.entries)
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
func each(c *engine.Ctx, f storage.EntryFilter, fn func(storage.Entry) (bool, error)) error {
	if f.DocID != "" {
		return eachOf(c, f, fn)
	}
	var failed error
	err := f.Walk(c.Tx, func(e storage.Entry, _ func() string) bool {
		var more bool
		more, failed = fn(e)
		return more && failed == nil
	})
	return cmp.Or(failed, err)
}

// eachOf reads the records of a document.
func eachOf(c *engine.Ctx, f storage.EntryFilter, fn func(storage.Entry) (bool, error)) error {
	f.PageOptions = storage.PageOptions{Limit: batch, CountLimit: -1}
	for {
		page, err := c.Tx.Entries(f)
		if fault.Is(err, fault.NotFound) {
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
		if !page.HasNext || page.Next == "" {
			return nil
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

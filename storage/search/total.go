package search

import (
	"errors"

	"catena/storage/internal/layout"
)

// counts reports whether the walk that fills the page also finds the total.
func (w *execution) counts() bool {
	return w.bound > 0 && w.from == nil && w.p.counter == nil && !w.p.countsRows() && w.found < 0
}

// total settles the figures, with a walk of its own where the first did not count.
func (w *execution) total() error {
	p := &w.page
	switch {
	case w.bound == 0:
		p.Total, p.More = w.passed, p.HasNext
		return nil
	case !p.HasNext, w.counts():
		p.Total = w.passed
	case w.from != nil && w.from.total >= 0:
		// Results may have been added since the first page, so the total is at least what was passed.
		p.Total, p.More = max(w.from.total, min(w.passed, w.bound)), w.from.more
		return nil
	case w.found >= 0:
		p.Total = max(w.found-int(w.p.q.Offset), w.passed)
		if w.most >= 0 {
			p.Total = min(p.Total, w.most)
		}
	default:
		n, err := w.count()
		if err != nil {
			return err
		}
		p.Total = max(n, w.passed)
	}
	if p.Total > w.bound && p.HasNext {
		p.Total, p.More = w.bound, true
	}
	return nil
}

// maxCounted bounds how many rows are counted to learn what counting the results by rows costs.
const maxCounted = 50_000

// countable returns the way on which the results are counted.
func (p *plan) countable() *accessPath {
	switch {
	case p.fallback != nil:
		return p.fallback
	case p.counter != nil:
		return p.counter
	case p.nulls:
		return p.plain
	}
	return p.path
}

// count counts results from the start, in any order.
func (w *execution) count() (int, error) {
	a := w.p.countable()
	want, offset, n := w.bound+1, int(w.p.q.Offset), 0
	if w.most >= 0 {
		want = min(want, w.most)
	}
	tally := func(r *scan) error {
		n = 0
		return r.each(false, nil, func(*candidate) (bool, error) {
			n++
			return n < want+offset, nil
		})
	}
	r := w.t.scan(w.p, a)
	if w.p.countsRows() {
		// Rows decide without documents, but those of all indexes but one have to be read whatever is wanted. So documents are
		// read as long as that is less.
		after := 0
		if len(w.p.answers) > 1 {
			after = w.t.rowsOf(w.p.answers, maxCounted)
		}
		watch(r, after, func() int { return leftOf(r, want+offset, n) }, func(left int) bool { return after == 0 || w.collectsFor(left) })
	} else if w.p.fallback == nil && w.p.wide != layout.None {
		watch(r, w.t.costs.subtree*w.t.costs.factor, func() int { return leftOf(r, want+offset, n) }, w.lists)
	}
	err := tally(r)
	switch {
	case !errors.Is(err, errPatience):
	case w.p.fallback != nil:
		err = tally(w.t.scan(w.p, w.p.fallback))
	default:
		known, failed := w.t.collect(w.p, w.p.answers, w.t.costs.known, want+offset)
		switch {
		case failed != nil:
			return 0, failed
		// All matches were found by rows alone.
		case known != nil:
			n, err = len(known), nil
		default:
			err = tally(w.t.scan(w.p, a))
		}
	}
	// A total that costs too much is reported as a lower bound.
	if errors.Is(err, errCostly) {
		w.page.More, err = true, nil
	}
	return max(n-offset, 0), err
}

package search

import (
	"errors"
	"maps"
	"slices"

	"catena/storage/internal/layout"
	"catena/storage/query"
)

// Where one index finds the matches and another has their order, the matches are collected
// first and then picked out along the order, so that no document is read for either. If the
// order does not come by enough of them soon, they are read and sorted instead.

// covers reports whether rows of the access path answer every condition.
func (r *scan) covers() bool {
	if r.path.ranges == nil || r.p.q.Correlated() || r.once {
		return false
	}
	ok := true
	for _, e := range r.rest {
		query.Walk(e, func(x *query.Predicate) {
			ok = ok && r.covered(x.Field)
		})
	}
	return ok
}

func (r *scan) covered(f *query.Field) bool {
	switch f.System {
	case query.SysUUID, query.SysParentID, query.SysType, query.SysState, query.SysMixin,
		query.SysIsVersion, query.SysIsProxy, query.SysIsTrashed, query.SysIsFolder:
		return true
	}
	a := r.path
	return a.field != nil && !a.many && f.System == a.field.System && f.Prop == a.field.Prop && f.Rest.Empty() == a.field.Rest.Empty() && (f.Rest.Empty() || f.Name == a.field.Name)
}

// collect returns the ids of all matches of an access path, or nil if there are more than max.
func (t planner) collect(p *plan, a *accessPath, max int) (map[layout.ID]bool, error) {
	known := map[layout.ID]bool{}
	err := t.scan(p, a).each(false, nil, func(h *candidate) (bool, error) {
		known[h.id] = true
		return len(known) <= max, nil
	})
	if errors.Is(err, errCostly) || len(known) > max {
		return nil, nil
	}
	return known, err
}

// walk runs the plan from a cursor on and shows the execution what it finds.
func (w *execution) walk() error {
	start := *w
	if w.p.finder != nil {
		known, err := w.t.collect(w.p, w.p.finder, w.t.costs.known)
		if err != nil {
			return err
		}
		if known != nil {
			return w.pickKnown(known, start)
		}
	}
	r := w.t.scan(w.p, w.p.path)
	if w.p.counter != nil && w.t.scan(w.p, w.p.counter).covers() {
		r.patience = w.t.costs.loads
	}
	err := w.show(r)
	if !errors.Is(err, errPatience) {
		return err
	}
	known, err := w.t.collect(w.p, w.p.counter, w.t.costs.known)
	if err != nil {
		return err
	}
	*w = start
	if known == nil {
		return w.show(w.t.scan(w.p, w.p.path))
	}
	return w.pickKnown(known, start)
}

// pickKnown fills the execution from known matches.
func (w *execution) pickKnown(known map[layout.ID]bool, start execution) error {
	w.found = len(known)
	if len(known) > w.t.costs.few/2 {
		r := w.t.scan(w.p, w.p.path)
		r.known, r.most = known, min(r.most, w.t.costs.factor*(len(known)+50))
		err := w.show(r)
		if !errors.Is(err, errCostly) || len(w.candidates) == w.size && w.page.HasNext {
			return err
		}
	}
	ids := slices.Collect(maps.Keys(known))
	p := *w.p
	p.path, p.sorted = idPath(ids, "matches"), false
	*w = start
	w.found = len(known)
	r := w.t.scan(&p, p.path)
	r.known = known
	return w.show(r)
}

// show passes what a scan finds to the execution.
func (w *execution) show(r *scan) error {
	skip := int(w.p.q.Offset)
	if w.from != nil {
		skip = 0
	}
	return r.ordered(w.from, func(m match) (bool, error) {
		if skip > 0 {
			skip--
			return true, nil
		}
		return w.take(m)
	})
}

package search

import (
	"bytes"
	"slices"

	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
)

// Documents without a value of the first field of ORDER BY come before all others, in descending order after them. An
// index that has no rows of them gives the order of the others; they are found by a plan of their own, which orders them
// by what is left of ORDER BY.

// withNulls calls visit for the matches of both plans.
func (r *scan) withNulls(from *cursor, visit func(m match) (bool, error)) error {
	desc := r.p.order[0].Desc
	null := kv.AppendNil(nil)
	if desc {
		kv.Invert(null)
	}
	more := true
	seen := func(m match) (bool, error) {
		var err error
		more, err = visit(m)
		return more, err
	}
	inNulls := from != nil && bytes.HasPrefix(from.key, null)
	if desc {
		if !inNulls {
			if err := r.valuesOnly().ordered(from, seen); err != nil || !more {
				return err
			}
			from = nil
		}
		return r.nullsOnly(null, from, seen)
	}
	if from == nil || inNulls {
		if err := r.nullsOnly(null, from, seen); err != nil || !more {
			return err
		}
		from = nil
	}
	return r.valuesOnly().ordered(from, seen)
}

// valuesOnly is the scan without the documents that have no value.
func (r *scan) valuesOnly() *scan {
	p := *r.p
	p.nulls = false
	r.p = &p
	return r
}

// nullsOnly calls visit for the documents without a value.
func (r *scan) nullsOnly(null []byte, from *cursor, visit func(m match) (bool, error)) error {
	p, err := r.t.nullPlan(r.p, null)
	if err != nil {
		return err
	}
	if few := r.p.path.unset; r.known != nil && (few == nil || len(r.known) < few.rows) {
		ids := make([]layout.ID, 0, len(r.known))
		for id := range r.known {
			ids = append(ids, id)
		}
		p.usePath(idPath(layout.SortIDs(ids), "matches"))
	}
	n := r.t.scan(p, p.path)
	n.keep, n.begun, n.most = r.keep, r.begun, r.most
	if from != nil {
		from = &cursor{key: from.key[len(null):]}
	}
	return n.ordered(from, visit)
}

// nullPlan plans the query for the documents without a value of the first field of ORDER BY.
func (t planner) nullPlan(p *plan, null []byte) (*plan, error) {
	field := p.order[0].Field
	n := &plan{
		q: p.q, names: p.names, mask: p.mask, want: p.want, parent: p.parent, flat: p.flat, under: p.under,
		order: p.order[1:], byID: len(p.order) == 1, idDesc: p.idDesc, before: append(bytes.Clone(p.before), null...),
		exprs: append(slices.Clip(p.exprs), &query.Predicate{Field: field, Op: query.IsNull}),
		lacks: p.path,
	}
	n.unset = n.exprs[len(n.exprs)-1]
	if a := p.path.unset; a != nil { // so few that no other way is better
		a.exact = []query.Expr{n.unset}
		n.usePath(a)
		return n, nil
	}
	return n, t.choosePath(n, "")
}

// lacksValue reports whether a document has no row with a value in the index that the results are not in, once so many were read
// that the rows are known; sure is false before.
func (r *scan) lacksValue(h *candidate) (lacks, sure bool, err error) {
	if h.doc != nil {
		return false, false, nil
	}
	if r.offered++; r.valued == nil && r.offered > r.t.costs.sorted {
		err = r.findValued()
	}
	if r.valued == nil || err != nil {
		return false, false, err
	}
	has := layout.HasID(r.valued, h.id)
	return !has, true, nil
}

// findValued takes down which documents have a value, so that they are not read.
func (r *scan) findValued() error {
	r.valued = []layout.ID{}
	if r.p.lacks == nil {
		return nil
	}
	values := notNull(r.p.lacks.prefix)
	values.KeysOnly = true
	for row, err := range r.t.kv().Scan(values) {
		if err != nil {
			return err
		}
		r.valued = append(r.valued, layout.IDAtEnd(row.Key))
	}
	r.valued = layout.SortIDs(r.valued)
	return nil
}

// everyID offers all documents in the order of their ids.
func (r *scan) everyID(reverse bool, after []byte, visit func(h *candidate) (bool, error)) error {
	rng := kv.Prefix([]byte{layout.NodeSpace})
	if !clampRange(&rng, reverse, after) {
		return nil
	}
	for row, err := range r.rows(rng) {
		if err != nil {
			return err
		}
		id := layout.IDAtEnd(row.Key)
		if r.valued == nil && r.offered >= r.t.costs.sorted {
			if err := r.findValued(); err != nil {
				return err
			}
		}
		if layout.HasID(r.valued, id) {
			if err := r.count(); err != nil {
				return err
			}
			continue
		}
		r.offered++
		if more, err := r.offerID(id, row.Value, id[:], visit); err != nil || !more {
			return err
		}
	}
	return nil
}

// unsetPath returns the few documents of the wanted types that lack a property of which the index has a row for every document,
// nil unless they are few. They come first in its order, among as many of other types as there may be: folders without a title,
// for example, when the documents in them are asked for by title.
func (t planner) unsetPath(p *plan, index string) *accessPath {
	if !layout.IsAlwaysIndexed(index) || p.everyType(t.types) || !t.usable(layout.UnsetIndex) {
		return nil
	}
	a := &accessPath{name: layout.UnsetIndex, about: "without " + index, rows: -1}
	for name := range p.names {
		a.ranges = append(a.ranges, kv.Prefix(t.dictionary().UnsetPrefix(index, name)))
	}
	slices.SortFunc(a.ranges, func(x, y kv.Range) int { return bytes.Compare(x.Start, y.Start) })
	n, err := t.rowsUpTo(a, t.costs.few)
	if err != nil || n >= t.costs.few {
		return nil
	}
	a.rows = n
	return a
}

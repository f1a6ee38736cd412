package search

import (
	"errors"

	"catena/storage"
	"catena/storage/query"
)

// Values calls visit with the values of a query's columns for each result, in no order: columns of fields
// with many values give lists. It stops after max results; more says that there are others.
func Values(t *storage.Tx, src string, o Options, most int, visit func(values []any)) (more bool, err error) {
	w, err := execute(t, src, o)
	if err != nil {
		return false, err
	}
	w.p.unordered()
	n := 0
	err = w.whole(w.p.q.Columns, func(values []any) (bool, error) {
		if n++; n > most {
			more = true
			return false, nil
		}
		visit(values)
		return true, nil
	})
	return more, err
}

// doc loads the document of a candidate; nil if it is gone.
func (r *scan) doc(h *candidate) (query.Source, error) {
	if h.doc == nil {
		r.loads++
		r.t.spent.docs++
		if err := r.fetch(); err != nil {
			return nil, err
		}
		d, err := r.t.in().LoadCoveredIn(r.spare, h.id, &h.Cover)
		r.spare = nil
		if err != nil || d == nil {
			return nil, err
		}
		h.doc = d
	}
	return docSource{r.t.Tx, h.doc}, nil
}

// value reads a field of a candidate.
func (r *scan) value(h *candidate, f *query.Field) (any, error) {
	if h.doc == nil {
		r.src.candidate = h
		if x := r.path.index; x != nil && !f.Rest.Empty() {
			if v, ok := x.column(h, len(r.path.prefix), f); ok {
				return v, nil
			}
		}
		v, err := query.FieldValue(f, &r.src)
		if !errors.Is(err, errNeedDoc) {
			return v, err
		}
	}
	src, err := r.doc(h)
	if err != nil || src == nil {
		return nil, err
	}
	return query.FieldValue(f, src)
}

package search

import (
	"errors"
	"time"

	"catena/storage"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/query"
)

// Values calls visit with the values of a query's columns for each result, in no order: columns of fields
// with many values give lists. It stops after most results (-1: there is no bound), and more says then that there are others;
// or when visit returns an error, which it returns.
func Values(t *storage.Tx, src string, o Options, most int, visit func(values []any) error) (more bool, err error) {
	begun := time.Now()
	w, err := execute(t, src, o)
	if err != nil {
		return false, err
	}
	w.unordered()
	ids := map[layout.ID]bool{}
	n := 0
	err = w.whole(w.p.q.Columns, func(id layout.ID, values []any) (bool, error) {
		if n++; most >= 0 && n > most {
			more = true
			return false, nil
		}
		if len(ids) <= maxMatches {
			ids[id] = true
		}
		return true, visit(values)
	})
	if err == nil && !more && len(ids) <= maxMatches && !w.t.kv().Writable() {
		spent := spent{rows: w.t.spent.rows, docs: max(0, w.t.spent.docs-len(ids))} // the results are read for their values
		*w.lastMatches() = lastMatches{w.p.q.Matching(), t.Principal(), ids, spent, time.Since(begun)}
	}
	return more, err
}

// lastMatches are the results of the last query of a transaction that only reads of which all were visited. A page of the same results is
// made of them, whatever its order.
type lastMatches struct {
	of    string
	as    *storage.Principal
	ids   map[layout.ID]bool
	spent spent // to find them
	took  time.Duration
}

// maxMatches is how many results are remembered.
const maxMatches = 10_000

func (w *execution) lastMatches() *lastMatches { return row.Of[lastMatches](w.t.in().Memory()) }

// visited returns the matches of the query if all of them were visited before, and counts what that cost as its own; nil if not. A page
// without an order goes on in that of an index.
func (w *execution) visited() map[layout.ID]bool {
	p := w.p
	if w.t.kv().Writable() || p.direct != nil || len(p.order) == 0 && !p.byID {
		return nil
	}
	last := w.lastMatches()
	if last.ids == nil || last.as != w.t.Principal() || last.of != p.q.Matching() {
		return nil
	}
	w.t.spent.rows, w.t.spent.docs, w.before = w.t.spent.rows+last.spent.rows, w.t.spent.docs+last.spent.docs, last.took
	return last.ids
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

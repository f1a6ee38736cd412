package search

import (
	"catena/storage"
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

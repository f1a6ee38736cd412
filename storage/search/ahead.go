package search

import (
	"bytes"
	"iter"

	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// How many rows a scan reads ahead of the one it decides about: as many as results are wanted, within these bounds, then twice
// as many each time.
const (
	leastAhead = 16
	mostAhead  = 512
)

func (r *scan) first() int { return min(max(r.keep, leastAhead), mostAhead) }

// rows walks the rows of a range. From a store across a network they are read some at a time, and the first condition that
// needs a document has those of all of them fetched in one round trip. That changes no result: whether a document may be read is
// decided from its row, before it is looked at. An embedded store gains nothing by it.
func (r *scan) rows(rng kv.Range) iter.Seq2[kv.Row, error] {
	if !r.t.kv().Remote() {
		return r.t.kv().Scan(rng)
	}
	return func(yield func(kv.Row, error) bool) {
		if err := r.follow(rng); err != nil {
			yield(kv.Row{}, err)
			return
		}
		var some []kv.Row
		most := r.first()
		flush := func() bool {
			for i, row := range some {
				r.ahead = some[i:]
				if !yield(row, nil) {
					return false
				}
			}
			some, r.ahead, most = some[:0], nil, min(2*most, mostAhead)
			return true
		}
		defer func() { r.ahead = nil }()
		for row, err := range r.t.kv().Scan(rng) {
			if err != nil {
				if flush() {
					yield(kv.Row{}, err)
				}
				return
			}
			if some = append(some, row); len(some) == most && !flush() {
				return
			}
		}
		flush()
	}
}

// follow has the first rows of a range fetched together with their documents, if some of these will be shown.
func (r *scan) follow(rng kv.Range) error {
	if r.shown == 0 {
		return nil
	}
	rng.Limit, rng.Follow = min(r.shown, mostAhead), layout.DocumentSpaces
	if bytes.HasPrefix(rng.Start, []byte{layout.IndexSpace}) && !layout.SlimIndexes[r.path.name] {
		rng.Follow = layout.RecordSpaces // the rows say where the documents are
	}
	r.shown = 0 // further ranges come into play if there are too few in the first one
	return r.t.kv().Prefetch(nil, rng)
}

// fetch has the store read what will mostly be asked for soon: the documents of the rows that were read ahead.
func (r *scan) fetch() error {
	if len(r.ahead) == 0 {
		return nil
	}
	keys := make([][]byte, 0, 2*len(r.ahead))
	for _, row := range r.ahead {
		if r.path.parent != nil {
			_, id := layout.PositionAndID(row.Key)
			keys = append(keys, layout.NodeKey(id), layout.RecordKey(id))
			continue
		}
		var c layout.Cover
		if err := c.Parse(r.t.dictionary(), row.Value); err != nil {
			return err
		}
		id := layout.IDAtEnd(row.Key)
		if keys = append(keys, layout.RecordKey(id)); c.Bits&layout.HasNode == 0 {
			keys = append(keys, layout.NodeKey(id))
		}
	}
	r.ahead = nil
	return r.t.kv().Prefetch(keys)
}

// typed finds out the type of a child whose row does not say it.
func (r *scan) typed(h *candidate) error {
	if err := r.fetch(); err != nil {
		return err
	}
	rec, err := r.t.kv().Get(layout.RecordKey(h.id))
	if err != nil || rec == nil {
		return err
	}
	h.Type = layout.RecordType(rec)
	return nil
}

package search

import (
	"bytes"
	"iter"
	"slices"

	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
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
		most := r.first()
		defer func() { r.ahead = nil }()
		for {
			at, wanted := rng, r.wants(rng)
			if wanted.Limit > 0 {
				if err := r.t.kv().Prefetch(nil, wanted); err != nil {
					yield(kv.Row{}, err)
					return
				}
				at.Limit = wanted.Limit
			}
			last, more := r.some(at, most, yield)
			if !more || at.Limit == 0 {
				return
			}
			if most = min(2*most, mostAhead); rng.Reverse {
				rng.End = last
			} else {
				rng.Start = append(bytes.Clone(last), 0)
			}
		}
	}
}

// some walks the rows of a range, as many at a time as most says, and twice as many each time after that. It returns the last key,
// and whether there may be more behind a limit.
func (r *scan) some(rng kv.Range, most int, yield func(kv.Row, error) bool) (last []byte, more bool) {
	var rows []kv.Row
	n := 0
	flush := func() bool {
		r.fetched = fetched{}
		for i, row := range rows {
			r.ahead = rows[i:]
			if !yield(row, nil) {
				return false
			}
		}
		rows, r.ahead, most = rows[:0], nil, min(2*most, mostAhead)
		return true
	}
	for row, err := range r.t.kv().Scan(rng) {
		if err != nil {
			if flush() {
				yield(kv.Row{}, err)
			}
			return nil, false
		}
		n++
		last = row.Key
		if rows = append(rows, row); len(rows) == most && !flush() {
			return nil, false
		}
	}
	return last, flush() && n == rng.Limit
}

// spareRows: of the rows that are fetched with their documents, one in so many is to spare. A few rows mostly are of documents elsewhere,
// or of documents that may not be read.
const spareRows = 8

// mostRows is how many rows of an index are fetched at a time, if it is known that so many are wanted.
const mostRows = 2048

// wants returns how much of a range is read at least, so that it is fetched in one round trip, and together with the documents of
// the rows if these will be shown, as long as most of the rows become results. No Limit: nobody knows. What few rows become results of
// is read in pages that grow, and not remembered.
func (r *scan) wants(rng kv.Range) kv.Range {
	left := r.shown - r.found
	switch {
	case left > 0 && 2*r.found >= r.read:
		rng.Limit, rng.Follow = min(left+left/spareRows+1, mostAhead), layout.DocumentSpaces
		if bytes.HasPrefix(rng.Start, []byte{layout.IndexSpace}) && !layout.SlimIndexes[r.path.name] {
			rng.Follow = layout.RecordSpaces // the rows say where the documents are
		}
	case r.keep > r.found && r.read < 2*r.keep:
		rng.Limit = min(max(r.keep-r.found, leastAhead), mostRows)
	}
	return rng
}

// fetched says what has been fetched of the rows that were read ahead.
type fetched struct {
	docs  bool
	words bool
	lives bool // the live documents of the versions among them
}

// fetch has the store read what will mostly be asked for soon: the documents of the rows that were read ahead.
func (r *scan) fetch() error {
	if r.fetched.docs || len(r.ahead) == 0 {
		return nil
	}
	r.fetched.docs = true
	if r.path.primary {
		r.fetched.lives = true
		ids := make([]layout.ID, len(r.ahead))
		for i, row := range r.ahead {
			ids[i] = layout.IDAtEnd(row.Key)
		}
		return r.t.in().AheadWithFolders(ids)
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
		if r.foundOut(id) {
			continue
		}
		if keys = append(keys, layout.RecordKey(id)); c.Bits&layout.HasNode == 0 {
			keys = append(keys, layout.NodeKey(id))
		}
	}
	return r.t.kv().Prefetch(keys)
}

// foundOut reports whether a document is not among those that terms found.
func (r *scan) foundOut(id layout.ID) bool {
	return slices.ContainsFunc(r.rest, func(e query.Expr) bool {
		f := r.p.found[e]
		return f != nil && !layout.HasID(f.ids, id)
	})
}

// fetchWords has the store read the words of the documents of the rows that were read ahead.
func (r *scan) fetchWords() error {
	if r.fetched.words || len(r.ahead) == 0 {
		return nil
	}
	r.fetched.words = true
	keys := make([][]byte, 0, len(r.ahead))
	for _, row := range r.ahead {
		if id := layout.IDAtEnd(row.Key); !r.foundOut(id) {
			keys = append(keys, layout.TermsKey(id))
		}
	}
	return r.t.kv().Prefetch(keys)
}

// further are the rows that are read of documents besides those that are loaded.
func (r *scan) further() (rows []func(layout.ID) []byte) {
	for _, e := range r.rest {
		query.Walk(e, func(x *query.Predicate) {
			known := r.p.found[x]
			if rows == nil && x.Field.System == query.SysFulltext && x.Field.Prop == nil && (known == nil || !known.exact) {
				rows = append(rows, layout.TermsKey)
			}
		})
	}
	return rows
}

// liveAhead has the store read the live documents of the versions that were read ahead, if the candidate is the first of them. A
// version is in its live document as others are in folders, and unlike these it is in no cache.
func (r *scan) liveAhead(h *candidate) error {
	if h.Flags&layout.Version == 0 || r.fetched.lives || len(r.ahead) == 0 {
		return nil
	}
	r.fetched.lives = true
	var keys [][]byte
	for _, row := range r.ahead {
		var c layout.Cover
		if err := c.Parse(r.t.dictionary(), row.Value); err != nil {
			return err
		}
		if c.Flags&layout.Version != 0 {
			keys = append(keys, layout.NodeKey(c.Parent))
		}
	}
	return r.t.kv().Prefetch(keys)
}

// typed finds out the type of a candidate whose row does not say it.
func (r *scan) typed(h *candidate) error {
	if h.Bits&layout.HasNode != 0 {
		_, err := r.doc(h)
		if h.doc != nil {
			h.Type = []byte(h.doc.Type().Name)
		}
		return err
	}
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

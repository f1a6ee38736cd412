package search

import (
	"bytes"
	"iter"
	"slices"

	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
)

// How many rows a scan reads ahead of the one it decides about, and of how many of them it fetches the documents together: as many as
// results are wanted, within these bounds, then twice as many each time, up to mostRows and mostAhead.
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
			if most = min(2*most, mostRows); rng.Reverse {
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
	n := 0
	for rows, err := range kv.Pieces(r.t.kv().Scan(rng), most, mostRows) {
		if err != nil {
			yield(kv.Row{}, err)
			return nil, false
		}
		r.fetched = fetched{docs: len(rows), words: len(rows)}
		for i, row := range rows {
			r.ahead = rows[i:]
			if !yield(row, nil) {
				return nil, false
			}
		}
		n, last, r.ahead = n+len(rows), rows[len(rows)-1].Key, nil
	}
	return last, n == rng.Limit
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

// fetched says of how many of the rows that were read ahead the documents have not been fetched, or their words: of the last ones.
type fetched struct {
	docs    int
	words   int
	folders bool // those of all of them have
}

// fetch has the store read what will mostly be asked for soon: the documents of the rows that were read ahead.
func (r *scan) fetch() error {
	if !r.due(r.fetched.docs) {
		return nil
	}
	var keys [][]byte
	var proxies []layout.ID
	err := r.promising(&r.fetched.docs, func(h *candidate) {
		if keys = append(keys, layout.RecordKey(h.id)); h.Bits&layout.HasNode == 0 {
			keys = append(keys, layout.NodeKey(h.id))
		}
		if h.Flags&layout.Proxy != 0 {
			proxies = append(proxies, h.id)
		}
	})
	if err == nil {
		err = r.t.kv().Prefetch(keys)
	}
	if err != nil {
		return err
	}
	return r.t.in().TargetsAhead(proxies)
}

// due reports whether the present row is one of the last ones, so many, for which something has not been fetched.
func (r *scan) due(left int) bool { return len(r.ahead) > 0 && len(r.ahead) <= left }

// promising calls visit for the next documents of the rows that were read ahead which may be results by what their rows say. It sets how
// many rows are left behind them.
func (r *scan) promising(left *int, visit func(h *candidate)) error {
	was, asked := r.place, r.src.candidate
	defer func() { r.place, r.src.candidate = was, asked }()
	r.together = min(max(2*r.together, r.first()), mostAhead)
	n := 0
	for i, row := range r.ahead {
		var h candidate
		if err := r.parse(row, &h); err != nil {
			return err
		}
		ok, err := r.mayBe(&h)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		visit(&h)
		if n++; n == r.together {
			*left = len(r.ahead) - i - 1
			return nil
		}
	}
	*left = 0
	return nil
}

// mayBe reports whether the row of a document lets it be a result.
func (r *scan) mayBe(h *candidate) (bool, error) {
	switch {
	case h.Flags&layout.Tomb != 0:
		return false, nil
	case r.known != nil:
		return r.known[h.id], nil
	case r.among != nil:
		if !r.among[h.id] {
			return false, nil
		}
	default:
		if ok, err := r.shows(h); err != nil || !ok {
			return false, err
		}
	}
	may, _, err := r.rowMeets(h)
	return may, err
}

// foundOut reports whether a document is not among those that terms found and that have to be looked at; where terms decide, rows do.
func (r *scan) foundOut(id layout.ID) bool {
	return len(r.p.found) > 0 && slices.ContainsFunc(r.rest, func(e query.Expr) bool {
		f := r.p.found[e]
		return f != nil && !f.exact && !layout.HasID(f.ids, id)
	})
}

// fetchWords has the store read the words of the documents of the rows that were read ahead.
func (r *scan) fetchWords() error {
	if !r.due(r.fetched.words) {
		return nil
	}
	var keys [][]byte
	err := r.promising(&r.fetched.words, func(h *candidate) { keys = append(keys, layout.TermsKey(h.id)) })
	if err != nil {
		return err
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

// foldersAhead has the store read the parents of all rows that were read ahead, if that of the candidate is the first that is in no cache.
// The cache only has folders: the documents that comments belong to and the live documents of versions are not in it.
func (r *scan) foldersAhead(h *candidate) error {
	if len(r.ahead) == 0 || r.fetched.folders || r.path.parent != nil || r.t.in().KnowsFolder(h.Parent) {
		return nil
	}
	r.fetched.folders = true
	folders := make([]layout.ID, len(r.ahead))
	for i, row := range r.ahead {
		var h candidate
		if err := r.parse(row, &h); err != nil {
			return err
		}
		folders[i] = h.Parent
	}
	return r.t.in().FoldersAhead(folders)
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

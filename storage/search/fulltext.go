package search

import (
	"iter"
	"slices"
	"strings"

	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/text"
)

// maxPending is how many documents a search reads because their terms are not up to date.
const maxPending = 500

// found are documents that terms find, and that are too many to be looked at one by one for every query.
type found struct {
	ids     []layout.ID // sorted
	exact   bool        // all of them meet the condition
	decided map[layout.ID]bool
}

// holds decides for a candidate, once for each document.
func (f *found) holds(r *scan, h *candidate, e query.Expr) (ok bool, err error) {
	if in := layout.HasID(f.ids, h.id); !in || f.exact {
		return in, nil
	}
	ok, known := f.decided[h.id]
	if !known {
		if ok, err = r.evaluate(h, e); err != nil {
			return false, err
		}
		if f.decided == nil {
			f.decided = map[layout.ID]bool{}
		}
		f.decided[h.id] = ok
	}
	return ok, nil
}

// lastSearch is the last full-text condition of a transaction that only reads, with what it found: a page of results and
// the figures about all of them are asked for together. Nothing was found if the documents are too many.
type lastSearch struct {
	condition string
	found     *found
}

// takeText answers a full-text condition with the documents found by terms. If they are many, they are one of the ways to find
// results, and decide the condition for candidates that are found in another way; a text is analysed for hundreds of times as long. If
// they are too many for that, most documents meet the condition, and any way finds them soon.
func (t planner) takeText(p *plan, x *query.Predicate) (bool, error) {
	if !t.usable(layout.TextIndex) {
		return false, nil
	}
	f, err := t.search(x)
	if err != nil || f == nil {
		return false, err
	}
	if len(f.ids) <= t.costs.direct {
		p.setIDs(slices.Clone(f.ids), x)
		return f.exact, nil
	}
	if p.found == nil {
		p.found = map[query.Expr]*found{}
	}
	p.found[x] = f
	return false, nil
}

// search returns what the terms of a full-text condition find, nil if that is too much.
func (t planner) search(x *query.Predicate) (*found, error) {
	last, condition := &lastSearch{}, query.Format(x)
	if !t.kv().Writable() {
		last = row.Of[lastSearch](t.in().Memory())
	}
	if last.condition == condition {
		return last.found, nil
	}
	s := termSearch{t: t, exact: x.Field.Prop == nil}
	ids, ok, err := s.find(x.Search())
	if err == nil && ok {
		ids, err = s.correct(ids, x)
	}
	if err != nil {
		return nil, err
	}
	*last = lastSearch{condition: condition}
	if ok {
		last.found = &found{ids: layout.SortIDs(ids), exact: s.exact}
	}
	return last.found, nil
}

// foundPaths are the ways to results by what terms find.
func (t planner) foundPaths(p *plan) (all []*accessPath) {
	for _, e := range p.exprs {
		f := p.found[e]
		if f == nil {
			continue
		}
		a := idPath(f.ids, primaryName)
		a.about, a.rows = "documents found by "+query.Format(e), min(len(f.ids)*t.costs.factor, t.maxSorted())
		if f.exact {
			a.exact = []query.Expr{e}
		}
		all = append(all, a)
	}
	return all
}

// throughRows returns the index by type if reading its rows costs less than loading the documents that terms found, which tell
// nothing before they are loaded, not even whether they may be read; nil otherwise.
func (t planner) throughRows(p *plan, best *accessPath) *accessPath {
	if best.name != primaryName || p.direct != nil {
		return nil
	}
	types, budget := p.typePath(t), len(best.ids)*t.costs.factor
	if t.rowsOf([]*accessPath{types}, budget) > budget {
		return nil
	}
	return types
}

// termSearch finds documents by terms.
type termSearch struct {
	t     planner
	exact bool // what is found meets the condition
}

// list is a list of documents: those of any of the terms, or of terms with a beginning.
type list struct {
	terms  []string
	starts bool
	loose  bool // has more documents than the word looked for
	rows   int
}

func (l *list) ranges() []kv.Range {
	ranges := make([]kv.Range, len(l.terms))
	for i, term := range l.terms {
		key := layout.TermKey(term)
		if l.starts {
			key = key[:len(key)-2] // the end of an encoded text
		}
		ranges[i] = kv.Prefix(key)
	}
	return ranges
}

// find returns the documents of a search; it is not ok if they are too many.
func (s *termSearch) find(alternatives [][]query.Term) (ids []layout.ID, ok bool, err error) {
	for _, terms := range alternatives {
		found, ok, err := s.all(terms)
		if err != nil || !ok {
			return nil, false, err
		}
		ids = append(ids, found...)
	}
	return layout.SortIDs(ids), true, nil
}

// all returns the documents that have all the terms.
func (s *termSearch) all(terms []query.Term) (ids []layout.ID, ok bool, err error) {
	var lists, without []list
	for _, term := range terms {
		found := s.lists(term)
		switch {
		case !term.Not:
			lists = append(lists, found...)
		case len(found) == 1 && !found[0].starts && !found[0].loose:
			without = append(without, found[0])
		default:
			s.exact = false
		}
	}
	if len(lists) == 0 {
		return nil, true, nil
	}
	if err := s.count(lists); err != nil {
		return nil, false, err
	}
	slices.SortFunc(lists, func(a, b list) int { return a.rows - b.rows })
	if lists[0].rows > s.t.costs.direct {
		return s.onMany(lists, without)
	}
	if slices.ContainsFunc(lists[1:], func(l list) bool { return l.starts }) {
		s.exact = false // the documents are read
	}
	for _, r := range lists[0].ranges() {
		if ids, err = s.onAll(ids, r, lists[1:], without); err != nil {
			return nil, false, err
		}
	}
	return ids, true, nil
}

// onMany returns the documents that are on all of some long lists and on none of those without, which are read as a whole. It is not ok
// if all are too long for that.
func (s *termSearch) onMany(lists, without []list) (ids []layout.ID, ok bool, err error) {
	for i, l := range slices.Concat(lists, without) {
		on, whole, err := s.whole(&l)
		switch {
		case err != nil:
			return nil, false, err
		case !whole:
			s.exact = false
		case i >= len(lists):
			ids = slices.DeleteFunc(ids, func(id layout.ID) bool { return layout.HasID(on, id) })
		case !ok:
			ids, ok = on, true
		default:
			ids = slices.DeleteFunc(ids, func(id layout.ID) bool { return !layout.HasID(on, id) })
		}
	}
	return ids, ok, nil
}

// whole returns all documents of a list, unless it is too long.
func (s *termSearch) whole(l *list) (ids []layout.ID, ok bool, err error) {
	for _, r := range l.ranges() {
		r.KeysOnly = true
		for row, err := range s.t.kv().Scan(r) {
			if err != nil || len(ids) == s.t.costs.known {
				return nil, false, err
			}
			ids = append(ids, layout.IDAtEnd(row.Key))
		}
	}
	return layout.SortIDs(ids), true, nil
}

// onAll appends those of a range of the shortest list that are on all the others and on none of those without.
func (s *termSearch) onAll(ids []layout.ID, r kv.Range, others, without []list) ([]layout.ID, error) {
	r.KeysOnly = true
	var rows []posting
	for row, err := range s.t.kv().Scan(r) {
		if err != nil {
			return nil, err
		}
		p, err := parsePosting(row.Key)
		if err != nil {
			return nil, err
		}
		if rows = append(rows, p); len(rows) == postingsAhead {
			if ids, err = s.meeting(ids, rows, others, without); err != nil {
				return nil, err
			}
			rows = rows[:0]
		}
	}
	return s.meeting(ids, rows, others, without)
}

// lists are those a document of the term is on. A phrase is on the list of each of its words, which
// says nothing about their order.
func (s *termSearch) lists(term query.Term) []list {
	stems, words := text.Stems(term.Phrase, term.Prefix), text.Words(term.Phrase)
	lists := make([]list, len(stems))
	for i := range stems {
		lists[i].terms = stems[i]
		if lists[i].loose = len(stems[i]) > len(text.Languages); lists[i].loose {
			s.exact = false
		}
	}
	if len(lists) > 1 {
		s.exact = false
	}
	if last := len(lists) - 1; term.Prefix && last >= 0 {
		l := list{starts: true, loose: lists[last].loose, terms: []string{text.Bare + words[last]}}
		for _, language := range text.Languages {
			l.terms = append(l.terms, language+":"+words[last])
		}
		l.terms = append(l.terms, stems[last][len(text.Languages):]...)
		lists[last] = l
	}
	return lists
}

// How many rows of a list are counted at first. A store across a network is asked for more: it returns them.
const (
	leastCounted = 128
	mostReturned = 512
)

// count finds out how many rows the shortest of the lists has, and that the others have no fewer. A list has a range for each
// language, most of which are short: a store across a network returns the first rows of all of them in one round trip.
func (s *termSearch) count(lists []list) error {
	bound := leastCounted
	if s.t.kv().Remote() {
		bound = mostReturned
		var ranges []kv.Range
		for i := range lists {
			ranges = append(ranges, lists[i].ranges()...)
		}
		for i := range ranges {
			ranges[i].KeysOnly, ranges[i].Limit = true, bound+1
		}
		if err := s.t.kv().Prefetch(nil, ranges...); err != nil {
			return err
		}
	}
	for ; ; bound = min(8*bound, s.t.costs.direct+1) {
		short := bound > s.t.costs.direct
		for i := range lists {
			if err := s.rows(&lists[i], bound); err != nil {
				return err
			}
			short = short || lists[i].rows < bound
		}
		if short {
			return nil
		}
	}
}

// rows counts the rows of a list up to a bound.
func (s *termSearch) rows(l *list, bound int) error {
	l.rows = 0
	for _, r := range l.ranges() {
		n, more, err := s.t.kv().Count(r, bound-l.rows)
		if err != nil {
			return err
		}
		if l.rows += n; more || l.rows >= bound {
			l.rows = bound
			return nil
		}
	}
	return nil
}

// posting is a row of a list: a document that is on it, and the language of its words.
type posting struct {
	id       layout.ID
	language string
}

func parsePosting(key []byte) (posting, error) {
	term, _, err := kv.DecodeString(key[2:])
	language, _, _ := strings.Cut(term, ":")
	return posting{layout.IDAtEnd(key), language}, err
}

// postingsAhead is how many documents of the shortest list are looked up on the other lists together.
const postingsAhead = 512

// meeting appends those of the rows whose documents are on all other lists and on none of those without.
func (s *termSearch) meeting(ids []layout.ID, rows []posting, others, without []list) ([]layout.ID, error) {
	if s.t.kv().Remote() {
		var keys [][]byte
		for _, p := range rows {
			for _, lists := range [][]list{others, without} {
				for i := range lists {
					keys = slices.AppendSeq(keys, p.keys(&lists[i]))
				}
			}
		}
		if err := s.t.kv().Prefetch(keys); err != nil {
			return nil, err
		}
	}
	for _, p := range rows {
		keep, err := s.meets(p, others, without)
		if err != nil {
			return nil, err
		}
		if keep {
			ids = append(ids, p.id)
		}
	}
	return ids, nil
}

// meets reports whether the document of a row is on all other lists and on none of those without.
func (s *termSearch) meets(p posting, others, without []list) (bool, error) {
	for i := range others {
		if others[i].starts {
			continue // the documents are read
		}
		on, err := s.on(&others[i], p)
		if err != nil || !on {
			return false, err
		}
	}
	for i := range without {
		on, err := s.on(&without[i], p)
		if err != nil || on {
			return false, err
		}
	}
	return true, nil
}

// on reports whether the document of a row is on a list.
func (s *termSearch) on(l *list, p posting) (bool, error) {
	for key := range p.keys(l) {
		v, err := s.t.kv().Get(key)
		if err != nil || v != nil {
			return v != nil, err
		}
	}
	return false, nil
}

// keys are where the document of a row is on a list, if it is on it. All stems of a document are of one language.
func (p posting) keys(l *list) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, term := range l.terms {
			on := !l.starts && (p.language == "=" || strings.HasPrefix(term, p.language+":"))
			if on && !yield(append(layout.TermKey(term), p.id[:]...)) {
				return
			}
		}
	}
}

// correct replaces what the terms say about documents that were changed since by what the documents
// say, unless they are many.
func (s *termSearch) correct(ids []layout.ID, x *query.Predicate) ([]layout.ID, error) {
	stale, more, err := s.t.in().Pending(maxPending)
	if err != nil || more || len(stale) == 0 {
		return ids, err
	}
	ids = slices.DeleteFunc(ids, func(id layout.ID) bool { return layout.HasID(stale, id) })
	if err := s.t.in().Ahead(stale); err != nil {
		return nil, err
	}
	for _, id := range stale {
		d, err := s.t.in().Load(id)
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		ok, err := query.Holds(x, docSource{s.t.Tx, d})
		if err != nil {
			return nil, err
		}
		if ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

package search

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
)

// scan walks the candidates of one access path and keeps those that match. It is used by one goroutine. Most queries meet
// long runs of candidates with the same type, parent and access list, so the answers for the last ones are remembered
// (typ, at) and nearly every candidate is decided by comparing bytes.
type scan struct {
	t        planner
	p        *plan
	path     *accessPath
	rest     []query.Expr // what the ranges do not answer
	byRow    []query.Expr // those of them that rows answer, the first ones of rest
	read     int          // rows so far
	most     int          // rows that may be read
	begun    time.Time
	loads    int                // documents loaded for conditions
	docs     int                // documents kept with what is sorted
	offered  int                // documents read that may have no value
	keep     int                // results of which the content is wanted, if they are sorted; 0: all
	patience int                // enough is asked once so much was spent; 0: it is not
	enough   func() bool        // reports whether another way is better now
	known    map[layout.ID]bool // the matches, if they are known: only their order is asked for
	among    map[layout.ID]bool // documents that meet all but rest, if they are known
	resume   []byte             // the sort key of the cursor, if several ranges are merged
	valued   []layout.ID        // documents with a value, in order, if they are known: they are not read
	once     bool               // a document's rows are told apart by firstRow
	repeats  bool               // a document may be offered for each of its rows
	earlier  []*branch          // the branches before the one that is walked
	src      coverSource
	single   candidate
	spare    *storage.Doc // was read for a condition that it does not meet
	shown    int          // results that are wanted as documents, those before the page included; 0: it is not known
	found    int          // results so far
	ahead    []kv.Row     // read and not decided about, the present one first, from a store across a network
	together int          // documents that were fetched together the last time
	fetched  fetched

	typ    []byte // the last type asked about
	wanted bool
	place
}

// place is the last folder asked about.
type place struct {
	at    layout.ID
	up    *storage.Folder
	open  bool // what inherits from it may be read
	fresh bool
}

// candidate is a document that may be a result: the columns that its index row covers, and the document itself once a
// condition needed it. A scan reuses one candidate for all rows; anyone who keeps it must clone it, as its slices refer to
// the row.
type candidate struct {
	layout.Cover
	id   layout.ID
	key  []byte // of the index row
	doc  *storage.Doc
	bare bool // the row is that of a child or of the tree: it says nothing of state and facets
}

func (t planner) scan(p *plan, a *accessPath) *scan {
	r := &scan{t: t, p: p, path: a, place: place{fresh: true}, most: t.Repo().Limits().QueryRows, begun: time.Now()}
	// Rows that answer every condition are cheap, and the number of them cannot be reduced by an index that
	// somebody should have declared. So only the time is bounded.
	if p.answers != nil || len(p.exprs) == 0 {
		r.most = math.MaxInt // it is the time that ends it
	}
	r.src.scan = r
	r.rest = p.exprs
	if len(a.exact)+len(a.test) > 0 {
		r.rest = slices.DeleteFunc(slices.Clone(p.exprs), func(e query.Expr) bool {
			return slices.Contains(a.exact, e) || slices.Contains(a.test, e)
		})
	}
	// A document with several values in the ranges has several rows there, and must be found once.
	r.once = a.many && !a.point
	return r
}

// queryTime bounds one walk over an index. It is checked every 1,024 rows, as reading the clock costs more than a row.
const queryTime = 5 * time.Second

// errPatience says that so much was spent that another way is better.
var errPatience = fault.Internal.Errorf("query: another plan is better")

// errCostly is given a message by anyone who knows the query.
var errCostly = fault.Limit.Errorf("query: too many rows").WithCode(fault.CodeQueryTooCostly)

// errLong is errCostly of a walk that has taken queryTime.
var errLong = fmt.Errorf("%w for the time", errCostly)

func (r *scan) count() error {
	r.t.spent.rows++
	if r.read++; r.read > r.most {
		return errCostly
	}
	// enough is asked only when much was spent, as the answer costs a count.
	if r.patience > 0 && r.cost() >= r.patience && r.enough() {
		return errPatience
	}
	if r.read&1023 == 0 && time.Since(r.begun) > queryTime {
		return errLong
	}
	return nil
}

// cost is what the scan has spent, in rows.
func (r *scan) cost() int { return r.read + r.loads*r.t.costs.factor }

// each calls visit for every match in the order of the access path, reversed if asked for; after
// is the key of the last row not to be visited, or nil. What a candidate holds is gone after the
// call, unless it is cloned.
func (r *scan) each(reverse bool, after []byte, visit func(h *candidate) (more bool, err error)) error {
	if r.path.ranges == nil {
		return r.withoutRanges(reverse, after, visit)
	}
	if len(r.path.bases) > 1 && r.p.lead > 0 {
		return r.merged(reverse, visit)
	}
	for i := range r.path.ranges {
		rng := r.path.ranges[i]
		if reverse {
			rng = r.path.ranges[len(r.path.ranges)-1-i]
		}
		// The range lies before the cursor as a whole.
		if !clampRange(&rng, reverse, after) {
			continue
		}
		for row, err := range r.rows(rng) {
			if err == nil {
				err = r.count()
			}
			if err != nil {
				return err
			}
			if more, err := r.offerRow(row, visit); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// withoutRanges is each for an access path that is not made of ranges of an index.
func (r *scan) withoutRanges(reverse bool, after []byte, visit func(h *candidate) (bool, error)) error {
	switch {
	case r.path.parent != nil:
		return r.children(reverse, after, visit)
	case r.path.primary:
		return r.everyID(reverse, after, visit)
	case r.path.top != nil:
		return r.descend(after, visit)
	case r.path.branches != nil:
		return r.eachBranch(after, visit)
	}
	return r.byID(reverse, after, visit)
}

// offerRow offers the document of a row of the path.
func (r *scan) offerRow(row kv.Row, visit func(h *candidate) (bool, error)) (more bool, err error) {
	h := &r.single
	if err := r.parse(row, h); err != nil {
		return false, err
	}
	return r.offer(h, visit)
}

func (r *scan) offer(h *candidate, visit func(h *candidate) (bool, error)) (more bool, err error) {
	given := h.doc
	if ok, err := r.accept(h); err != nil || !ok {
		if given == nil && h.doc != nil { // accept loaded it, and nobody else knows it
			r.spare, h.doc = h.doc, nil
		}
		return true, err
	}
	r.found++
	return visit(h)
}

// byID offers documents that are known by id, in the order of the ids.
func (r *scan) byID(reverse bool, after []byte, visit func(h *candidate) (bool, error)) error {
	ids := r.path.ids
	if reverse {
		ids = slices.Clone(ids)
		slices.Reverse(ids)
	}
	fetched := 0
	for i, id := range ids {
		if after != nil && (bytes.Compare(id[:], after) > 0) == reverse || bytes.Equal(id[:], after) {
			continue
		}
		if i >= fetched {
			fetched = min(len(ids), max(i+r.first(), min(2*i, i+mostAhead)))
			if err := r.t.in().AheadWithFolders(ids[i:fetched], r.further()...); err != nil {
				return err
			}
		}
		if more, err := r.offerID(id, nil, id[:], visit); err != nil || !more {
			return err
		}
	}
	return nil
}

// children offers the children of a folder in order. Their documents are read only if that is needed to
// decide.
func (r *scan) children(reverse bool, after []byte, visit func(h *candidate) (bool, error)) error {
	rng := kv.Prefix(layout.ChildrenPrefix(*r.path.parent))
	if !clampRange(&rng, reverse, after) {
		return nil
	}
	for row, err := range r.rows(rng) {
		if err == nil {
			err = r.count()
		}
		if err != nil {
			return err
		}
		if more, err := r.offerRow(row, visit); err != nil || !more {
			return err
		}
	}
	return nil
}

// offerID offers a document by its row of the tree, which decides whether it may be read; its content is read only if that is needed.
func (r *scan) offerID(id layout.ID, row, key []byte, visit func(h *candidate) (bool, error)) (more bool, err error) {
	if err := r.count(); err != nil {
		return false, err
	}
	if row == nil {
		if row, err = r.t.kv().Get(layout.NodeKey(id)); err != nil || row == nil {
			return true, err
		}
	}
	h := &r.single
	*h = candidate{id: id, key: key, bare: true}
	if err := r.t.in().Place(row, &h.Cover); err != nil || h.Flags&layout.Tomb != 0 {
		return true, err
	}
	return r.offer(h, visit)
}

// accept decides about a candidate, first by what costs nothing. The order of the tests is that of their
// costs: flags and type are in the row, the folder is mostly known from the row before, permissions are
// cached by access list, and only the remaining conditions may load the document. Permissions are checked
// before conditions, so that the time that a condition takes tells nothing about documents that the principal
// may not read.
func (r *scan) accept(h *candidate) (bool, error) {
	switch {
	case r.known != nil:
		return r.known[h.id], nil
	case r.among != nil:
		if !r.among[h.id] {
			return false, nil
		}
		return r.meets(h)
	}
	if ok, err := r.shows(h); err != nil || !ok {
		return false, err
	}
	if h.Type == nil && r.p.names != nil {
		if err := r.typed(h); err != nil || !r.typeWanted(h.Type) {
			return false, err
		}
	}
	ok, err := r.meets(h)
	if err != nil || !ok || r.repeats {
		return ok, err
	}
	if before, err := r.offeredBefore(h); err != nil || before {
		return false, err
	}
	if !r.once {
		return true, nil
	}
	return r.firstRow(h)
}

// firstRow reports whether no row before this one, in the same ranges, stands for the same
// document.
func (r *scan) firstRow(h *candidate) (bool, error) {
	first := true
	err := r.items(h, func(item any, key []byte) {
		// The document was, or will be, offered at an earlier row.
		if bytes.Compare(key, h.key) < 0 && inRanges(r.path.ranges, key) && r.passes(item) {
			first = false
		}
	})
	return first && h.doc != nil, err
}

// items calls visit for every value the document of a row has in the index, with the key of its row.
func (r *scan) items(h *candidate, visit func(item any, key []byte)) error {
	src, err := r.doc(h)
	if err != nil || src == nil {
		return err
	}
	v, err := query.FieldValue(r.path.field, src)
	if err != nil {
		return err
	}
	items, _ := v.([]any)
	for _, item := range items {
		if key, ok := layout.AppendValue(bytes.Clone(r.path.prefix), item); ok {
			visit(item, append(key, h.id[:]...))
		}
	}
	return nil
}

func (r *scan) passes(item any) bool {
	for _, e := range r.path.test {
		if x := e.(*query.Predicate); x.Op != query.IsNull && !x.Test(item) {
			return false
		}
	}
	return true
}

// meets evaluates the conditions that are left, on the row if it says enough and on the
// document otherwise.
func (r *scan) meets(h *candidate) (bool, error) {
	// Conditions such as LIKE can take long for a single document; the work is counted towards the end of the
	// call.
	if err := r.t.kv().Work(1000); err != nil {
		return false, err
	}
	for _, e := range r.path.test {
		ok, err := r.item(h, e)
		if err != nil || !ok {
			return false, err
		}
	}
	may, sure, err := r.rowMeets(h)
	if err != nil || !may {
		return false, err
	}
	left := r.rest
	if sure {
		left = left[len(r.byRow):]
	}
	for _, e := range left {
		ok, err := r.holds(h, e)
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// arrange puts the conditions first that rows answer, so that no document is loaded that these rule out.
func (r *scan) arrange() {
	if r.byRow != nil || len(r.rest) == 0 || r.p.q.Correlated() {
		return
	}
	byRow, others := make([]query.Expr, 0, len(r.rest)), []query.Expr(nil)
	for _, e := range r.rest {
		if e != r.p.unset && r.coversExpr(e) {
			byRow = append(byRow, e)
		} else {
			others = append(others, e)
		}
	}
	r.byRow, r.rest = byRow, append(slices.Clip(byRow), others...)
}

// rowMeets reports whether the row of a document lets it meet the conditions that are left, and whether it is sure of all that rows answer.
func (r *scan) rowMeets(h *candidate) (may, sure bool, err error) {
	if r.arrange(); r.foundOut(h.id) {
		return false, true, nil
	}
	sure = true
	for _, e := range r.byRow {
		ok, err := r.rowHolds(h, e)
		switch {
		case errors.Is(err, errNeedDoc):
			sure = false
		case err != nil || !ok:
			return false, true, err
		}
	}
	return true, sure, nil
}

// item evaluates a condition on a field with many values on the one value of the row, or on those that
// share the row.
func (r *scan) item(h *candidate, e query.Expr) (ok bool, err error) {
	x := e.(*query.Predicate)
	if h.Bits&layout.IsPart != 0 {
		var ended error
		err = r.items(h, func(item any, key []byte) {
			if ended == nil {
				ended = r.t.kv().Work(x.Work())
			}
			ok = ok || ended == nil && bytes.Equal(key, h.key) && (x.Op == query.IsNull || x.Test(item))
		})
		return ok, cmp.Or(err, ended)
	}
	r.src.candidate = h
	v, err := r.src.indexed()
	if err != nil {
		return false, err
	}
	return x.Op == query.IsNull || x.Test(v), nil
}

func (r *scan) holds(h *candidate, e query.Expr) (bool, error) {
	if e == r.p.unset {
		if lacks, sure, err := r.lacksValue(h); sure || err != nil {
			return lacks, err
		}
	}
	if f := r.p.found[e]; f != nil {
		return f.holds(r, h, e)
	}
	return r.evaluate(h, e)
}

// evaluate decides a condition by the row if it holds the fields, and by the document otherwise.
func (r *scan) evaluate(h *candidate, e query.Expr) (bool, error) {
	// Correlated conditions (ecm:acl/*1/…) compare several members of one list item, which no single row
	// holds.
	if x, is := e.(*query.Predicate); h.doc == nil && !r.p.q.Correlated() || is && asksFolder(x) {
		ok, err := r.rowHolds(h, e)
		// The row does not hold a field of the condition, so the document has to be loaded after all.
		if !errors.Is(err, errNeedDoc) {
			return ok, err
		}
	}
	src, err := r.doc(h)
	if err != nil || src == nil {
		return false, err
	}
	if r.p.q.Correlated() {
		return r.p.q.Match(src)
	}
	return query.Holds(e, src)
}

// rowHolds decides a condition by the row, or returns errNeedDoc.
func (r *scan) rowHolds(h *candidate, e query.Expr) (bool, error) {
	if x, is := e.(*query.Predicate); is && asksFolder(x) {
		return (h.Flags&layout.Folder != 0) == (x.Op == query.Eq), nil
	}
	if f := r.p.found[e]; f != nil && f.exact {
		return layout.HasID(f.ids, h.id), nil
	}
	r.src.candidate = h
	if ok, sure := r.partHolds(e); sure {
		return ok, nil
	}
	return query.Holds(e, &r.src)
}

// partHolds evaluates a condition on a single value inside a complex property, if the row holds it.
func (r *scan) partHolds(e query.Expr) (ok, sure bool) {
	x, is := e.(*query.Predicate)
	if item := is && r.path.index != nil && r.path.index.fixesItem(r.path, x); item || is && r.path.index != nil && !x.Field.Rest.Empty() {
		v, ok := r.path.index.held(r.src.candidate, len(r.path.prefix), x.Field, item)
		return ok && (x.Op == query.IsNull && (v == nil) != x.Not || x.Op != query.IsNull && x.Test(v)), ok
	}
	if a := r.path; !is || a.field == nil || a.many || a.field.Rest.Empty() || x.Field.Name != a.field.Name {
		return false, false
	}
	v, err := r.src.indexed()
	if err != nil {
		return false, false
	}
	return x.Op == query.IsNull && x.Not || x.Op != query.IsNull && x.Test(v), true
}

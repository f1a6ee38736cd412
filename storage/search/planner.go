package search

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
)

// costs are the figures that the planner compares, in rows. Their exact values matter little, since each decides between two plans of about the
// same cost. Tests change them to reach every plan.
type costs struct {
	sorted  int // up to here, candidates are read and sorted rather than found along an index in order, or to see whether they lack a value
	few     int // an access path with fewer ends the search for a better one
	direct  int // up to here, documents found by terms are looked at one by one, whatever else is asked
	subtree int // up to here, STARTSWITH walks down
	sort    int // most results in memory that are not ordered by an index, where all are wanted
	known   int // most matches collected before their order is looked up, and most rows of terms
	loads   int // documents read along an index in order before matches are collected
	factor  int // rows that cost as much as reading a document
}

var usualCosts = costs{sorted: 2000, few: 200, direct: 10_000, subtree: 1000, sort: 10_000, known: 200_000, loads: 300, factor: 10}

// estimates remembers for a moment how many rows ranges have, so that popular values are
// not counted for every query. Small counts are not kept, for they cost little and would push out the others. A wrong one can
// make a plan slower, never its result wrong. It is shared by all transactions of a repository.
type estimates struct {
	mu     sync.Mutex
	byName map[string]estimate
}

type estimate struct {
	rows  int
	more  bool // there are more rows
	until time.Time
}

const (
	// estimatesKept bounds the memory; when it is reached, all are forgotten, which costs one count for each range in use.
	estimatesKept = 4096
	// estimateAge is how long a count may be wrong. Data that grows fast is planned again after at most this time.
	estimateAge = 10 * time.Second
	// leastKept is the smallest count that is kept.
	leastKept = 50
)

func (e *estimates) get(key string) (estimate, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x, ok := e.byName[key]
	return x, ok && time.Now().Before(x.until)
}

func (e *estimates) put(key string, rows int, more bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byName == nil || len(e.byName) >= estimatesKept {
		e.byName = map[string]estimate{}
	}
	e.byName[key] = estimate{rows, more, time.Now().Add(estimateAge)}
}

// maxSorted is how many candidates are rather sorted than found along an index in order.
func (t planner) maxSorted() int { return min(t.costs.sorted, t.Repo().Limits().QueryRows) }

// estimate counts the rows of an access path, up to where sorting them is no option.
func (t planner) estimate(a *accessPath) error {
	if a.rows >= 0 {
		return nil
	}
	if a.branches != nil {
		a.rows = 0
		for _, b := range a.branches {
			if err := t.estimate(b.accessPath); err != nil {
				return err
			}
			a.rows += b.rows
		}
		return nil
	}
	ranges := a.spans()
	name := rangesKey(ranges)
	// A count that was interrupted is of use only if it already shows that there are too many rows.
	if n, ok := t.estimates.get(name); ok && (!n.more || n.rows >= t.maxSorted()) {
		a.rows = n.rows
		return nil
	}
	a.rows = 0
	for _, r := range ranges {
		// Counting ends where the exact number no longer matters: from there on the path is not sorted
		// anyway.
		n, _, err := t.kv().Count(r, t.maxSorted()-a.rows)
		if err != nil {
			return err
		}
		if a.rows += n; a.rows >= t.maxSorted() {
			break
		}
	}
	if a.rows >= leastKept {
		t.estimates.put(name, a.rows, a.rows >= t.maxSorted())
	}
	return nil
}

// choosePath sets the access path of a plan; want is the access path a cursor came from, or "". A page that
// continues another one must use the path of that one, as its position means nothing on another; so with want
// nothing is compared.
func (t planner) choosePath(p *plan, want string) error {
	// Nothing matches, or the candidates are known by id: no index can be better.
	if p.empty != "" || p.direct != nil {
		p.usePath(idPath(p.ids, primaryName))
		return nil
	}
	// A repository whose rows are being written for the first time has no complete path to its documents. A
	// partial result would look like a complete one.
	if !t.usable(layout.TypeIndex) {
		return fault.Unavailable.Errorf("query: the indexes are being written")
	}
	types := p.typePath(t)
	all := append(t.compoundPaths(p), p.paths(t)...)
	p.answers = t.answering(p, all, types)
	all, err := t.kindPaths(p, all, want)
	if err != nil {
		return err
	}
	order := t.orderPath(p, all, types)
	// This is the frequent case of a list in a folder, and needs no counting at all.
	if want == "" && t.settles(p, order) {
		p.plain = types
		p.usePath(order)
		return nil
	}
	all = append(all, t.foundPaths(p)...)
	if !p.everyType(t.types) {
		all = append(all, types)
	}
	best, err := t.cheapest(p, all, order)
	if err != nil {
		return err
	}
	more, err := t.alternatives(p, best, want)
	if len(more) > 0 {
		all = append(all, more...)
		p.answers = t.answering(p, all, types)
		best, err = t.cheapest(p, all, order)
	}
	if err != nil {
		return err
	}
	// The documents below the folder may have become more since the first page.
	if want == subtreeName && len(p.under) > 0 { // whatever it costs now
		a, _, err := t.walkDown(p.under[len(p.under)-1], maxWalked)
		if err != nil || a == nil {
			return cmp.Or(err, errCursor())
		}
		p.usePath(a)
		return nil
	}
	if want != "" {
		return p.resume(want, append(all, types, t.rowsOnly(p), primaryPath()))
	}
	if best, err = t.subtree(p, best); err != nil {
		return err
	}
	return t.decide(p, best, order, types)
}

// decide chooses between the index with the order and the one with the fewest rows. The index with the order
// may end after one page but may have to skip many rows; the other one reads all of its rows and sorts them.
// Where neither is clearly better, the plan starts with the first and has the second ready (fallback,
// finders) in case it turns out to be long.
func (t planner) decide(p *plan, best, order, types *accessPath) error {
	if p.plain = types; best != nil && best != order {
		p.plain = best
	}
	switch {
	// There is neither a condition with an index nor an order.
	case order == nil && best == nil:
		p.usePath(firstPath(t.cheaperRows(p, types), types))
	case order == nil:
		p.usePath(firstPath(t.cheaperRows(p, best), best))
	case order.top != nil:
		few, err := t.fewInTree(p)
		if p.usePath(order); few {
			p.usePath(firstPath(t.cheaperRows(p, p.plain), p.plain))
		} else {
			p.counter = p.plain
		}
		return err
	case best == order:
		p.usePath(order)
		p.counter = t.counterFor(p, types)
	case best != nil && best.rows >= 0 && best.rows < t.maxSorted():
		p.usePath(best)
		switch {
		// So few that sorting them is cheaper than any thought about it.
		case best.rows <= t.costs.few/2:
		// The matches can be found without loading a document; the order of the few results is looked up
		// afterwards.
		case t.scan(p, best).covers():
			p.usePath(order)
			p.finders = []*accessPath{best}
		case p.counted && p.answers != nil && t.rowsOf(p.answers, best.rows*t.costs.factor) < best.rows*t.costs.factor/2:
			p.usePath(order)
			p.finders = p.answers
		case best.rows > t.costs.few && !p.counted && !order.primary && (!order.partial || order.unset != nil):
			p.usePath(order)
			p.fallback = best
		}
	// The order of ids has an index only over all documents. For a few matches, sorting is much cheaper.
	case order.primary && (best != nil || !p.everyType(t.types)):
		few, err := t.atMost(p.plain, maxUnordered)
		if p.usePath(order); few {
			p.usePath(p.plain)
		} else {
			p.counter = firstPath(t.counterFor(p, p.plain), p.plain)
		}
		return err
	default:
		p.usePath(order)
		if best != nil && (best.field != nil || best.index != nil || best.branches != nil) && best != types {
			// The page comes from the order; the total is counted on the path with fewer rows.
			p.counter = best
		} else {
			p.counter = t.counterFor(p, types)
		}
	}
	return nil
}

// counterFor is the way to all results on which rows decide, so that the total costs less than on the path of the plan; nil if there is
// none, or that is good enough.
func (t planner) counterFor(p *plan, all *accessPath) *accessPath {
	if !p.counted || p.lead >= len(p.order) && t.scan(p, p.path).covers() {
		return nil
	}
	n := *p
	n.order, n.byID = nil, false
	if t.scan(&n, all).covers() {
		return all
	}
	return t.cheaperRows(&n, all)
}

// maxUnordered is how many candidates are read to order them by id or path, rather than all documents in this order; maxWalked
// how many documents below a folder are listed for a cursor that began with such a list.
const (
	maxUnordered = 5000
	maxWalked    = 20_000
)

// atMost reports whether an access path has at most so many rows.
func (t planner) atMost(a *accessPath, most int) (bool, error) {
	n, err := t.rowsUpTo(a, most)
	return n <= most, err
}

// rowsUpTo counts the rows of an access path up to one more than most. What was counted a moment ago is not counted again.
func (t planner) rowsUpTo(a *accessPath, most int) (int, error) {
	ranges := a.spans()
	key := "up to " + rangesKey(ranges)
	if n, ok := t.estimates.get(key); ok && (n.rows > most || !n.more) {
		return min(n.rows, most+1), nil
	}
	total, over := 0, false
	for _, r := range ranges {
		n, more, err := t.kv().Count(r, most-total)
		if err != nil {
			return 0, err
		}
		if total += n; more {
			total, over = total+1, true
			break
		}
	}
	t.estimates.put(key, total, over)
	return total, nil
}

// rowsOf counts the rows of several access paths, up to about most.
func (t planner) rowsOf(all []*accessPath, most int) (total int) {
	for _, a := range all {
		n, err := t.rowsUpTo(a, max(0, most-total))
		if total += n; err != nil || total > most {
			// An error here must not fail the query: it only decides between plans.
			return most + 1 // what it costs is not known, or too much
		}
	}
	return total
}

// spans returns the rows that are read on an access path.
func (a *accessPath) spans() []kv.Range {
	if a.parent != nil {
		return []kv.Range{kv.Prefix(layout.ChildrenPrefix(*a.parent))}
	}
	ranges := a.ranges
	for _, b := range a.branches {
		ranges = append(ranges, b.spans()...)
	}
	return ranges
}

func childrenPath(of layout.ID) *accessPath {
	return &accessPath{name: "children", about: "children of " + of.String(), parent: &of, rows: -1}
}

// rangesKey names ranges for estimates.
func rangesKey(ranges []kv.Range) string {
	var key []byte
	// The first ranges and the number of all are enough to tell queries apart; a collision only makes an
	// estimate worse.
	for _, r := range ranges[:min(len(ranges), 8)] {
		key = append(append(key, r.Start...), r.End...)
	}
	return string(strconv.AppendInt(key, int64(len(ranges)), 10))
}

// usePath sets the access path and how far its order is that of the results.
func (p *plan) usePath(a *accessPath) {
	p.path, p.lead, p.total, p.reverse, p.nulls = a, 0, false, false, false
	switch {
	case p.byID:
		p.total, p.reverse = a.primary || a.ids != nil, p.idDesc
	case len(p.order) == 0 || a.ids != nil:
	case a.top != nil: // no two documents have the same path
		p.lead, p.total = 1, true
		return
	case a.index != nil:
		p.useCompound(a)
		return
	case a.parent != nil:
		if p.order[0].Field.System == query.SysPos {
			p.lead = 1
		}
	case a.field != nil && !a.many && sameField(a.field, p.order[0].Field) && a.name != layout.VersionIndex:
		p.lead, p.nulls = 1, a.partial
	}
	if p.lead > 0 {
		p.reverse = p.order[0].Desc
		p.total = len(p.order) == 1 && p.reverse == p.idDesc
	}
}

func firstPath(a ...*accessPath) *accessPath {
	for _, x := range a {
		if x != nil {
			return x
		}
	}
	return nil
}

// resume uses the access path of an earlier page, which is in no other order than its own.
func (p *plan) resume(name string, all []*accessPath) error {
	for _, a := range all {
		if a != nil && a.name == name {
			p.usePath(a)
			return nil
		}
	}
	return errCursor()
}

func errCursor() error { return fault.Invalid.Errorf("cursor: was not returned by this query") }

// orderPath returns the way that has the order of the first ORDER BY item, or nil. Documents without a value of it are
// found another way if the index does not have them.
func (t planner) orderPath(p *plan, all []*accessPath, types *accessPath) *accessPath {
	if p.byID {
		return primaryPath()
	}
	if len(p.order) == 0 || p.q.Correlated() {
		return nil
	}
	if a := t.treePath(p); a != nil {
		return a
	}
	if a := t.bestCompound(p, all); a != nil {
		return a
	}
	f := p.order[0].Field
	if f.System == query.SysPos && p.parent != nil {
		return all[len(all)-1]
	}
	index := indexOf(f)
	if index == "" || index == layout.VersionIndex || f.Many || !t.usable(index) {
		return nil
	}
	if types.field != nil && index == types.field.Name {
		p.narrow(types)
		return types
	}
	for _, a := range all {
		if a.name == index && a.index == nil {
			return a
		}
	}
	a := t.wholePath(index, f)
	a.partial = !p.complete(t, index, f)
	if a.unset = t.unsetPath(p, index); a.unset != nil {
		a.partial = true
	}
	if a.partial {
		a.ranges = []kv.Range{notNull(a.prefix)}
	}
	return a
}

// narrow puts conditions on dc:modified into the ranges of one type.
func (p *plan) narrow(types *accessPath) {
	for _, e := range p.exprs {
		x, ok := e.(*query.Predicate)
		if !ok || x.Field.Name != types.field.Name {
			continue
		}
		if ranges, exact, ok := bounds(types.prefix, x); ok {
			types.ranges = intersect(types.ranges, ranges)
			types.about += " AND " + query.Format(x)
			if exact {
				types.exact = append(types.exact, e)
			}
		}
	}
}

// cheapest returns the access path with the fewest rows, or nil. Where there is no choice,
// nothing is counted.
func (t planner) cheapest(p *plan, all []*accessPath, order *accessPath) (*accessPath, error) {
	all = slices.DeleteFunc(slices.Clone(all), func(a *accessPath) bool { return a == order })
	if len(all) == 0 {
		return order, nil
	}
	if len(all) == 1 && order == nil && len(p.under) == 0 {
		return all[0], nil
	}
	var best *accessPath
	for _, a := range all {
		if err := t.estimate(a); err != nil {
			return nil, err
		}
		if best == nil || a.rows < best.rows {
			best = a
		}
		// Good enough: counting the others would cost more than it could save.
		if best.rows < t.costs.few {
			break
		}
	}
	return t.cheaper(best, order)
}

// cheaper returns the path with the order if it has conditions too and no more rows than the best of the others.
func (t planner) cheaper(best, order *accessPath) (*accessPath, error) {
	if order == nil || order.whole || best.rows < t.costs.few || best.rows >= t.maxSorted() {
		return best, nil
	}
	if err := t.estimate(order); err != nil {
		return nil, err
	}
	if order.rows <= best.rows {
		return order, nil
	}
	return best, nil
}

func idPath(ids []layout.ID, name string) *accessPath {
	return &accessPath{name: name, about: "documents by id", ids: ids, rows: len(ids)}
}

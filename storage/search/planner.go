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

// costs are the planner's figures, in rows.
type costs struct {
	sorted  int // up to here, candidates are read and sorted rather than found along an index in order
	few     int // an access path with fewer ends the search for a better one
	subtree int // up to here, STARTSWITH walks down
	sort    int // most results sorted in memory
	known   int // most matches collected before their order is looked up
	loads   int // documents read along an index in order before matches are collected
	factor  int // rows that cost as much as reading a document
}

var usualCosts = costs{sorted: 2000, few: 200, subtree: 1000, sort: 10_000, known: 20_000, loads: 120, factor: 20}

// estimates remembers for a moment how many rows ranges have, so that popular values are
// not counted for every query.
type estimates struct {
	mu     sync.Mutex
	byName map[string]estimate
}

type estimate struct {
	rows  int
	until time.Time
}

const (
	estimatesKept = 4096
	estimateAge   = 10 * time.Second
)

func (e *estimates) get(key string) (int, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x, ok := e.byName[key]
	return x.rows, ok && time.Now().Before(x.until)
}

func (e *estimates) put(key string, rows int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byName == nil || len(e.byName) >= estimatesKept {
		e.byName = map[string]estimate{}
	}
	e.byName[key] = estimate{rows, time.Now().Add(estimateAge)}
}

// maxSorted is how many candidates are rather sorted than found along an index in order.
func (t planner) maxSorted() int { return min(t.costs.sorted, t.Repo().Limits().ScanRows) }

// estimate counts the rows of an access path, up to where sorting them is no option.
func (t planner) estimate(a *accessPath) error {
	if a.rows >= 0 {
		return nil
	}
	ranges := a.ranges
	if a.parent != nil {
		ranges = []kv.Range{kv.Prefix(layout.ChildrenPrefix(*a.parent))}
	}
	var key []byte
	for _, r := range ranges[:min(len(ranges), 8)] {
		key = append(append(key, r.Start...), r.End...)
	}
	name := string(strconv.AppendInt(key, int64(len(ranges)), 10))
	if n, ok := t.estimates.get(name); ok && n >= t.maxSorted() {
		a.rows = n
		return nil
	}
	a.rows = 0
	for _, r := range ranges {
		n, _, err := t.kv().Count(r, t.maxSorted()-a.rows)
		if err != nil {
			return err
		}
		if a.rows += n; a.rows >= t.maxSorted() {
			break
		}
	}
	if a.rows >= t.maxSorted() {
		t.estimates.put(name, a.rows)
	}
	return nil
}

// choosePath sets the access of a plan; want is the access path a cursor came from, or "".
func (t planner) choosePath(p *plan, want string) error {
	if p.empty != "" || p.direct != nil {
		p.path = idPath(p.ids, "ecm:uuid")
		return nil
	}
	if !t.usable(layout.TypeIndex) {
		return fault.Unavailable.Errorf("query: the indexes are being written")
	}
	types := p.typePath(t)
	all := p.paths(t)
	if p.parent != nil {
		all = append(all, &accessPath{name: "children", about: "children of " + p.parent.String(), parent: p.parent, rows: -1})
	}
	order := t.orderPath(p, all, types)
	if !p.everyType(t.Repo().Types()) {
		all = append(all, types)
	}
	best, err := t.cheapest(p, all, order)
	if err != nil {
		return err
	}
	if best, err = t.subtree(p, best); err != nil {
		return err
	}
	if want == subtreeName && len(p.under) > 0 { // whatever it costs by now
		p.path, _, err = t.walkDown(p.under[len(p.under)-1], t.costs.sort)
		return cmp.Or(err, unless(p.path != nil, errCursor()))
	}
	if want != "" {
		return p.resume(want, append(all, types))
	}
	switch {
	case order == nil && best == nil:
		p.path = types
	case order == nil || best == order:
		p.path = firstPath(best, order)
	case best != nil && best.rows >= 0 && best.rows < t.maxSorted():
		p.path = best
		if best.rows > t.costs.few/2 && t.scan(p, best).covers() {
			p.path, p.finder = order, best
		}
	default:
		p.path = order
		if best != nil && best.field != nil && best != types {
			p.counter = best
		}
	}
	p.sorted = len(p.order) > 0 && p.path == order
	return nil
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
			p.path = a
			return nil
		}
	}
	return errCursor()
}

func errCursor() error { return fault.Invalid.Errorf("cursor: was not returned by this query") }

// orderPath returns the way that has the order of the first ORDER BY item, or nil.
func (t planner) orderPath(p *plan, all []*accessPath, types *accessPath) *accessPath {
	if len(p.order) == 0 || p.q.Correlated() {
		return nil
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
		if a.name == index {
			return a
		}
	}
	if complete(index) || p.notNull(f) {
		return t.wholePath(index, f)
	}
	return nil
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
		if best.rows < t.costs.few {
			break
		}
	}
	if order != nil && !order.whole && best.rows >= t.costs.few && best.rows < t.maxSorted() {
		if err := t.estimate(order); err != nil {
			return nil, err
		}
		if order.rows <= best.rows {
			return order, nil
		}
	}
	return best, nil
}

// subtree walks down from the folder of STARTSWITH if that finds few documents and no
// index finds fewer.
func (t planner) subtree(p *plan, best *accessPath) (*accessPath, error) {
	if len(p.under) == 0 || best != nil && best.rows >= 0 && best.rows < t.costs.few {
		return best, nil
	}
	top := p.under[len(p.under)-1]
	if top == layout.None {
		return idPath(nil, subtreeName), nil
	}
	if top == t.in().Root() {
		return best, nil
	}
	key := string(top[:])
	if n, ok := t.estimates.get(key); ok && n > t.costs.subtree {
		return best, nil
	}
	a, whole, err := t.walkDown(top, t.costs.subtree)
	if err != nil {
		return nil, err
	}
	if !whole {
		t.estimates.put(key, t.costs.subtree+1)
		return best, nil
	}
	if best != nil && best.rows >= 0 && best.rows <= a.rows {
		return best, nil
	}
	return a, nil
}

// subtreeName stands in cursors for the documents below a folder.
const subtreeName = "subtree"

// walkDown returns the documents below one by id; whole is false, and the access path nil, if
// there are more than max.
func (t planner) walkDown(top layout.ID, max int) (a *accessPath, whole bool, err error) {
	ids, whole, err := t.in().Below(top, max)
	if err != nil || !whole {
		return nil, false, err
	}
	a = idPath(layout.SortIDs(ids), subtreeName)
	a.about = "documents below " + top.String()
	return a, true, nil
}

func unless(ok bool, err error) error {
	if ok {
		return nil
	}
	return err
}

func idPath(ids []layout.ID, name string) *accessPath {
	return &accessPath{name: name, about: "documents by id", ids: ids, rows: len(ids)}
}

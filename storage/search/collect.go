package search

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
)

// Where one index has the order of the results and others find them, there are two ways. Documents are read along the
// order until the page is full: that is fast if many of them match. Or the matches are collected first from the rows of the
// indexes, and then picked out along the order or sorted, which reads no document in vain. The first way is tried, and
// left as soon as it is seen to cost more than the second.

// covers reports whether rows of the access path answer every condition, and hold the values that are wanted of every result.
func (r *scan) covers() bool {
	if r.path.ranges == nil || r.p.q.Correlated() || r.once {
		return false
	}
	if slices.ContainsFunc(r.p.values, func(c query.Column) bool { return c.Field != nil && !r.covered(c.Field) }) {
		return false
	}
	return !slices.ContainsFunc(r.rest, func(e query.Expr) bool { return !r.coversExpr(e) })
}

func (r *scan) coversExpr(e query.Expr) bool {
	if f := r.p.found[e]; f != nil && f.exact {
		return true
	}
	if x, is := e.(*query.Predicate); is && r.path.index != nil && r.path.index.fixesItem(r.path, x) {
		return true
	}
	ok := true
	query.Walk(e, func(x *query.Predicate) { ok = ok && r.covered(x.Field) })
	return ok
}

func (r *scan) covered(f *query.Field) bool {
	if coveredSystem(f.System) {
		return true
	}
	a := r.path
	if a.index != nil {
		return a.index.has(f)
	}
	return a.field != nil && !a.many && sameField(f, a.field)
}

// coveredSystem reports whether the rows of every index hold a field.
func coveredSystem(s query.System) bool {
	switch s {
	case query.SysUUID, query.SysParentID, query.SysAncestorID, query.SysType, query.SysState, query.SysMixin, query.SysOwnFacet,
		query.SysIsVersion, query.SysIsProxy, query.SysIsTrashed, query.SysIsFolder:
		return true
	}
	return false
}

// answering returns indexes whose rows together answer all conditions, or nil.
func (t planner) answering(p *plan, all []*accessPath, types *accessPath) []*accessPath {
	if len(p.exprs) == 0 || p.q.Correlated() {
		return nil
	}
	var chosen []*accessPath
	left := slices.Clone(p.exprs)
	use := func(a *accessPath) {
		r := t.scan(p, a)
		n := len(left)
		left = slices.DeleteFunc(left, func(e query.Expr) bool { return r.answers(e) })
		if len(left) < n {
			chosen = append(chosen, a)
		}
	}
	for _, a := range all {
		if a.ids == nil {
			use(a)
		}
	}
	for _, e := range slices.Clone(left) {
		if x, ok := e.(*query.Predicate); ok && asksValue(x) && !x.Field.Many {
			if index := indexOf(x.Field); index != "" && index != layout.VersionIndex && t.usable(index) {
				a := t.wholePath(index, x.Field)
				a.ranges = []kv.Range{notNull(a.prefix)}
				use(a)
			}
		}
	}
	if len(left) > 0 && len(chosen) == 0 {
		use(types)
	}
	if len(left) > 0 {
		return nil
	}
	return chosen
}

// rowsOnly returns the index of a single field whose rows answer all conditions and hold what the results are ordered by and what is
// wanted of all, nil if there is none: reading it reads no document.
func (t planner) rowsOnly(p *plan) *accessPath {
	if p.q.Correlated() {
		return nil
	}
	var field *query.Field
	fits := true
	p.eachField(func(f *query.Field) {
		switch {
		case coveredSystem(f.System):
		case f.System != query.Property || f.Many || field != nil && !sameField(f, field):
			fits = false
		default:
			field = f
		}
	})
	if field == nil || !fits {
		return nil
	}
	index := indexOf(field)
	if index == "" || !t.usable(index) || !p.complete(t, index, field) {
		return nil
	}
	a := t.wholePath(index, field)
	if p.notNull(field) {
		a.ranges = []kv.Range{notNull(a.prefix)}
	}
	return a
}

// eachField calls visit with the fields that conditions, the order and what is wanted of all results name.
func (p *plan) eachField(visit func(f *query.Field)) {
	for _, e := range p.exprs {
		query.Walk(e, func(x *query.Predicate) { visit(x.Field) })
	}
	for _, o := range p.order {
		visit(o.Field)
	}
	for _, c := range p.values {
		if c.Field != nil {
			visit(c.Field)
		}
	}
}

// cheaperRows is rowsOnly if that costs less than reading the documents of another path.
func (t planner) cheaperRows(p *plan, best *accessPath) *accessPath {
	if best.ids != nil {
		return t.throughRows(p, best)
	}
	a := t.rowsOnly(p)
	switch {
	case a == nil || best.name == layout.TypeIndex && p.everyType(t.types):
		return a
	case best.branches != nil || t.scan(p, best).covers():
		return nil
	}
	n, err := t.rowsUpTo(best, maxWalked)
	if budget := n * t.costs.factor; err != nil || n == 0 || t.rowsOf([]*accessPath{a}, budget) > budget {
		return nil
	}
	return a
}

// answers reports whether the rows of the access path decide a condition.
func (r *scan) answers(e query.Expr) bool {
	return slices.Contains(r.path.exact, e) || slices.Contains(r.path.test, e) || r.coversExpr(e)
}

// collect returns the ids of all matches from the rows of the indexes that answer the conditions, or nil if there
// are more than most. With stop above zero so many are enough.
func (t planner) collect(p *plan, paths []*accessPath, most, stop int) (map[layout.ID]bool, error) {
	paths, err := t.byRows(paths)
	if err != nil {
		return nil, err
	}
	var known map[layout.ID]bool
	for i, a := range paths {
		if i > 0 {
			if budget := len(known) * t.costs.factor; t.rowsOf(paths[i:], budget) > budget {
				return t.collectAmong(p, known, stop)
			}
		}
		r := t.scan(p, a)
		r.among, r.repeats, r.most, r.keep = known, true, math.MaxInt, min(a.rows, most)+1
		if len(paths) > 1 {
			r.rest = slices.DeleteFunc(slices.Clone(r.rest), func(e query.Expr) bool { return !r.coversExpr(e) })
		}
		found := map[layout.ID]bool{}
		err := r.each(false, nil, func(h *candidate) (bool, error) {
			found[h.id] = true
			return len(found) <= most && (i < len(paths)-1 || stop == 0 || len(found) < stop), nil
		})
		if errors.Is(err, errCostly) || len(found) > most {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		known = found
	}
	return known, nil
}

// byRows returns access paths in the order of how many rows they have.
func (t planner) byRows(paths []*accessPath) ([]*accessPath, error) {
	paths = slices.Clone(paths)
	rows := map[*accessPath]int{}
	for _, a := range paths {
		if err := t.estimate(a); err != nil {
			return nil, err
		}
		if rows[a] = a.rows; a.rows >= t.maxSorted() && len(paths) > 1 {
			n, err := t.rowsUpTo(a, maxCounted)
			if err != nil {
				return nil, err
			}
			rows[a] = max(n, a.rows)
		}
	}
	slices.SortStableFunc(paths, func(a, b *accessPath) int { return rows[a] - rows[b] })
	return paths, nil
}

// collectAmong is collect for documents that may be read and are few beside the rows that would decide about them: their content is read.
func (t planner) collectAmong(p *plan, known map[layout.ID]bool, stop int) (map[layout.ID]bool, error) {
	r := t.scan(p, idPath(layout.SortIDs(slices.Collect(maps.Keys(known))), "candidates"))
	r.among, r.most = known, math.MaxInt
	found := map[layout.ID]bool{}
	err := r.each(false, nil, func(h *candidate) (bool, error) {
		found[h.id] = true
		return stop == 0 || len(found) < stop, nil
	})
	if errors.Is(err, errCostly) {
		return nil, nil
	}
	return found, err
}

// walk runs the plan from a cursor on and shows the execution what it finds.
func (w *execution) walk() error {
	known := w.visited()
	start := *w
	if known != nil {
		return w.pickKnown(known, start)
	}
	if w.p.finders != nil {
		known, err := w.t.collect(w.p, w.p.finders, w.t.costs.known, 0)
		if err != nil {
			return err
		}
		if known != nil {
			return w.pickKnown(known, start)
		}
	}
	r := w.t.scan(w.p, w.p.path)
	w.watchFor(r)
	err := w.show(r)
	if !errors.Is(err, errPatience) {
		return err
	}
	if *w = start; w.p.fallback != nil {
		p := *w.p
		p.usePath(p.fallback)
		return w.show(w.t.scan(&p, p.path))
	}
	if known, err = w.t.collect(w.p, w.p.answers, w.t.costs.known, 0); err != nil {
		return err
	}
	if known == nil {
		return w.show(w.t.scan(w.p, w.p.path))
	}
	return w.pickKnown(known, start)
}

// watchFor has a scan along an order ended once one of the other ways to the results that there are is better.
func (w *execution) watchFor(r *scan) {
	switch {
	case w.p.fallback != nil:
		w.watch(r, w.p.fallback.rows*w.t.costs.factor/4, func(left int) bool { return left > w.p.fallback.rows*w.t.costs.factor })
	case w.p.byID && w.p.path.primary, w.p.lead > 0 && w.p.path.top != nil:
		w.watchEverything(r)
	case w.p.answers != nil && w.p.lead > 0 && !r.covers():
		w.watch(r, w.t.costs.loads*w.t.costs.factor, func(left int) bool { return w.collectsFor(left) || w.lists(left) })
	case w.p.wide != layout.None:
		w.watch(r, w.t.costs.subtree*w.t.costs.factor, w.lists)
	}
}

// watch is watch of a scan that fills the page.
func (w *execution) watch(r *scan, after int, better func(left int) bool) {
	watch(r, after, func() int { return w.left(r) }, better)
}

// watchEverything has a scan of all documents in an order that is theirs ended once sorting is better: when it has cost as much as sorting
// would, or a quarter of that and will cost as much. That is asked each time that it has cost twice as much.
func (w *execution) watchEverything(r *scan) {
	if plain := w.p.plain; plain == nil || plain.primary || plain.ids != nil {
		return
	}
	r.patience = w.t.costs.loads * w.t.costs.factor
	r.enough = func() bool {
		r.patience = 2 * r.cost()
		return w.sorts(max(r.cost(), min(w.left(r), 4*r.cost())))
	}
}

// watch has the scan ended with errPatience once better says so of what it will still cost, by what is known now. That is
// asked when so much was spent, and again when twice as much more was as is expected then.
func watch(r *scan, after int, expected func() int, better func(left int) bool) {
	r.patience = max(1, after)
	r.enough = func() bool {
		left := expected()
		if better(left) {
			return true
		}
		r.patience = r.cost() + 2*max(left, after)
		return false
	}
}

// left is what a scan in order will cost until the page is full, if results come as they did so far.
func (w *execution) left(r *scan) int {
	wanted, found := w.page.Offset+w.size+1, w.passed
	switch {
	case w.from != nil:
		wanted, found = w.size+1, len(w.candidates)
	case w.counts():
		wanted = max(wanted, w.bound+1)
	}
	return leftOf(r, wanted, found)
}

func leftOf(r *scan, wanted, found int) int {
	found = max(1, found)
	return r.cost() * max(0, wanted-found) / found
}

// lists reports whether reading all documents below the folder of STARTSWITH costs less, and makes them the fallback then.
func (w *execution) lists(budget int) bool {
	most, key := min(budget/(w.t.costs.factor+1), maxWalked), string(w.p.wide[:])
	if w.p.wide == layout.None || most <= w.t.costs.subtree {
		return false
	}
	if n, ok := w.t.estimates.get(key); ok && n.rows > most {
		return false
	}
	a, whole, err := w.t.walkDown(w.p.wide, most)
	if err != nil || !whole {
		w.t.estimates.put(key, most+1, true)
		return false // the path that is walked finds the error too, if there is one
	}
	w.p.fallback = a
	return true
}

// sorts reports whether it costs less to sort all candidates by id or path than to read the documents in this order, and makes the path to them
// the fallback then.
func (w *execution) sorts(budget int) bool {
	plain := w.p.plain
	if !w.t.scan(w.p, plain).covers() {
		budget /= w.t.costs.factor
	}
	if w.t.rowsOf([]*accessPath{plain}, budget) > budget {
		return false
	}
	w.p.fallback = plain
	return true
}

// collectsFor reports whether collecting the matches costs less.
func (w *execution) collectsFor(budget int) bool { return w.t.rowsOf(w.p.answers, budget) <= budget }

// pickKnown fills the execution from known matches.
func (w *execution) pickKnown(known map[layout.ID]bool, start execution) error {
	w.found = len(known)
	if len(known) > w.t.costs.few/2 && w.p.lead > 0 {
		r := w.t.scan(w.p, w.p.path)
		r.known, r.most = known, min(r.most, w.t.costs.factor*(len(known)+200)/4)
		err := w.show(r)
		if !errors.Is(err, errCostly) || len(w.candidates) == w.size && w.page.HasNext {
			return err
		}
	}
	p := *w.p
	p.usePath(idPath(layout.SortIDs(slices.Collect(maps.Keys(known))), "matches"))
	*w = start
	w.found = len(known)
	r := w.t.scan(&p, p.path)
	r.known = known
	return w.show(r)
}

// show passes what a scan finds to the execution.
func (w *execution) show(r *scan) error {
	skip := int(w.p.q.Offset)
	if w.from != nil {
		skip = 0
	}
	r.shown = skip + w.page.Offset + w.size + 1
	r.keep = r.shown + w.bound
	return r.ordered(w.from, func(m match) (bool, error) {
		if skip > 0 {
			skip--
			return true, nil
		}
		return w.take(m)
	})
}

// countsRows reports whether the total is counted from rows of indexes that answer all conditions, because those of the
// access path do not.
func (p *plan) countsRows() bool { return p.counter != nil && p.answers != nil }

func pathNames(paths []*accessPath) string {
	var names []string
	for _, a := range paths {
		names = append(names, a.name)
	}
	return strings.Join(names, ", ")
}

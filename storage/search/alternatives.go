package search

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/schema"
)

// Where a condition is an OR whose every alternative has an index, or gives ids, its results are found along all of these: the
// branches of one access path. Branches are walked in the order of their keys, so that the key of a row is a position among
// all of them. A document that several branches find is offered by the first.

// branch is one part of such an access path.
type branch struct {
	*accessPath
	parts  []query.Expr // the alternatives that it finds
	byType bool
}

// alternativesName begins the names of these access paths; what follows says which conjunct it is of, and the index of each
// alternative, because a cursor has to find the same ones again.
const alternativesName = "OR "

// alternatives returns an access path for each OR among the conditions that indexes can answer, unless another path is good
// enough. With want, the name of the access path of earlier pages, it is made as it was then.
func (t planner) alternatives(p *plan, best *accessPath, want string) (all []*accessPath, err error) {
	few := best != nil && best.rows >= 0 && best.rows < t.costs.few
	if p.q.Correlated() || few && !strings.HasPrefix(want, alternativesName) {
		return nil, nil
	}
	for i, e := range p.exprs {
		l := t.eitherOf(p, e)
		if l == nil {
			continue
		}
		name := fmt.Sprint(alternativesName, i)
		var chosen []string
		if rest, ok := strings.CutPrefix(want, name+": "); ok {
			chosen = strings.Split(rest, " | ")
		} else if want != "" {
			continue
		}
		a, err := t.anyOf(p, l, name, chosen)
		if err != nil {
			return nil, err
		}
		if a != nil {
			all = append(all, a)
		}
	}
	return all, nil
}

// eitherOf returns a condition as an OR of others: what it is, or a condition on facets, which a document has by its type or of its own.
// It returns nil if the condition is neither.
func (t planner) eitherOf(p *plan, e query.Expr) *query.Logic {
	switch e := e.(type) {
	case *query.Logic:
		if e.Or {
			return e
		}
	case *query.Predicate:
		if e.Field.System == query.SysMixin && !e.Not && (e.Op == query.Eq || e.Op == query.In) {
			return t.facets(p, e)
		}
	}
	return nil
}

// facets divides a condition on facets into one on the types that are wanted and one on the facets that documents have of their own.
func (t planner) facets(p *plan, x *query.Predicate) *query.Logic {
	own := &query.Field{Pos: x.Field.Pos, Name: x.Field.Name, System: query.SysOwnFacet, Kind: x.Field.Kind, Many: true}
	either := &query.Logic{Or: true, Parts: []query.Expr{&query.Predicate{Pos: x.Pos, Field: own, Op: x.Op, Values: x.Values}}}
	var types []query.Value
	for _, typ := range t.types.Types() {
		if p.names != nil && !p.names[typ.Name] {
			continue
		}
		if slices.ContainsFunc(x.Values, func(v query.Value) bool { return slices.Contains(typ.Facets, v.V.(string)) }) {
			types = append(types, query.Value{Pos: x.Pos, V: typ.Name})
		}
	}
	if len(types) > 0 {
		byType := &query.Field{Pos: x.Field.Pos, Name: "ecm:primaryType", System: query.SysType, Kind: x.Field.Kind}
		either.Parts = append(either.Parts, &query.Predicate{Pos: x.Pos, Field: byType, Op: query.In, Values: types})
	}
	return either
}

// anyOf returns the access path of an OR, nil if one of its alternatives has no index.
func (t planner) anyOf(p *plan, l *query.Logic, name string, chosen []string) (*accessPath, error) {
	a := &accessPath{about: query.Format(l), rows: -1}
	parts := disjuncts(nil, l)
	if chosen != nil && len(chosen) != len(parts) {
		return nil, errCursor()
	}
	names := make([]string, len(parts))
	exact := true
	for i, part := range parts {
		only := ""
		if chosen != nil {
			only = chosen[i]
		}
		b, err := t.branch(p, part, only)
		if err != nil || b == nil {
			p.missing = part
			return nil, err
		}
		names[i] = b.name
		exact = exact && b.decides()
		a.join(b)
	}
	a.name = name + ": " + strings.Join(names, " | ")
	if exact {
		a.exact = []query.Expr{l}
	}
	for _, b := range a.branches {
		b.name = a.name // a cursor names the whole
	}
	slices.SortFunc(a.branches, func(x, y *branch) int { return bytes.Compare(x.first(), y.first()) })
	return a, nil
}

func disjuncts(dst []query.Expr, e query.Expr) []query.Expr {
	l, ok := e.(*query.Logic)
	if !ok || !l.Or {
		return append(dst, e)
	}
	for _, part := range l.Parts {
		dst = disjuncts(dst, part)
	}
	return dst
}

// branch returns the way to the documents of an alternative, nil if there is none: of several the one with the fewest rows, or
// the one whose index is named.
func (t planner) branch(p *plan, e query.Expr, only string) (best *branch, err error) {
	all, err := t.branches(p, e, only != "")
	for i := 0; err == nil && i < len(all); i++ {
		b := all[i]
		b.parts = []query.Expr{e}
		switch {
		case b.name == only, len(all) == 1 && only == "":
			return b, nil
		case only != "":
			continue
		}
		if err = t.estimate(b.accessPath); best == nil || b.rows < best.rows {
			best = b
		}
	}
	return best, err
}

// branches returns the ways to the documents of an alternative. A page that goes on may walk down further than the first.
func (t planner) branches(p *plan, e query.Expr, again bool) (all []*branch, err error) {
	probe := plan{q: p.q, names: p.names, exprs: []query.Expr{e}}
	if l, ok := e.(*query.Logic); ok {
		probe.exprs = l.Parts
	}
	for _, a := range t.compoundPaths(&probe) {
		if len(a.filters) > 0 {
			all = append(all, &branch{accessPath: a})
		}
	}
	for _, part := range probe.exprs {
		x, ok := part.(*query.Predicate)
		if !ok {
			continue
		}
		b, err := t.branchOf(p, x, again)
		if err != nil {
			return nil, err
		}
		if b != nil {
			all = append(all, b)
		}
	}
	return all, nil
}

// branchOf returns the way to the documents that meet a condition.
func (t planner) branchOf(p *plan, x *query.Predicate, again bool) (*branch, error) {
	probe := plan{q: p.q}
	exact, err := t.take(&probe, x)
	if err != nil {
		return nil, err
	}
	var b *branch
	switch {
	case probe.empty != "":
		b = idBranch(nil)
	case probe.direct != nil:
		b = idBranch(probe.ids)
	case probe.parent != nil:
		b = &branch{accessPath: childrenPath(*probe.parent)}
	case len(probe.under) > 0:
		if b, err = t.branchBelow(probe.under[0], again); err != nil || b == nil {
			return nil, err
		}
	case probe.names != nil:
		if 2*len(probe.names) > len(t.types.Types()) {
			return nil, nil
		}
		b = &branch{accessPath: probe.typesPath(t), byType: true}
	default:
		b = new(branch)
		if b.accessPath, exact = t.indexPath(p, x); b.accessPath == nil {
			return nil, nil
		}
	}
	if exact && b.parent == nil {
		b.exact = []query.Expr{x}
	}
	return b, nil
}

// branchBelow returns the way to the documents below a folder, nil if they are many.
func (t planner) branchBelow(top layout.ID, again bool) (*branch, error) {
	most := t.costs.subtree
	switch {
	case top == layout.None:
		return idBranch(nil), nil
	case top == t.in().Root():
		return nil, nil
	case again:
		most = maxWalked
	}
	if n, ok := t.estimates.get(string(top[:])); ok && n.rows > most {
		return nil, nil
	}
	a, whole, err := t.walkDown(top, most)
	if err != nil {
		return nil, err
	}
	if !whole {
		t.estimates.put(string(top[:]), most+1, true)
		return nil, nil
	}
	return idBranch(a.ids), nil
}

func idBranch(ids []layout.ID) *branch {
	return &branch{accessPath: idPath(append([]layout.ID{}, ids...), "ecm:uuid")}
}

// join adds a branch, to one of the same index if there is one.
func (a *accessPath) join(b *branch) {
	for _, have := range a.branches {
		if have.name != b.name || have.parent != nil || have.byType != b.byType || have.index != nil {
			continue
		}
		have.parts, have.exact = append(have.parts, b.parts...), append(have.exact, b.exact...)
		have.point, have.rows = false, -1
		if have.ids != nil {
			have.ids = layout.SortIDs(append(slices.Clone(have.ids), b.ids...))
			have.rows = len(have.ids)
			return
		}
		have.ranges = union(have.ranges, b.ranges)
		if b.byType {
			have.field, have.prefix = nil, nil // no longer the rows of one type
		}
		return
	}
	a.branches = append(a.branches, b)
}

// union returns what is in a range of either list, in order.
func union(a, b []kv.Range) (out []kv.Range) {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y kv.Range) int { return bytes.Compare(x.Start, y.Start) })
	for _, r := range all {
		last := len(out) - 1
		switch {
		case last < 0 || out[last].End != nil && bytes.Compare(r.Start, out[last].End) > 0:
			out = append(out, r)
		case out[last].End != nil && (r.End == nil || bytes.Compare(r.End, out[last].End) > 0):
			out[last].End = r.End
		}
	}
	return out
}

// first is where the keys of a branch begin; ids come after all keys.
func (b *branch) first() []byte {
	if b.ids != nil {
		return idMark
	}
	if all := b.spans(); len(all) > 0 {
		return all[0].Start
	}
	return nil
}

// idMark stands before an id that is a position among keys; no key begins with it.
var idMark = []byte{0xff}

// eachBranch offers what the branches find.
func (r *scan) eachBranch(after []byte, visit func(h *candidate) (bool, error)) error {
	whole, rest := r.path, r.rest
	defer func() { r.path, r.rest, r.byRow, r.once, r.earlier = whole, rest, nil, false, nil }()
	stopped := false
	for i, b := range whole.branches {
		r.path, r.once, r.earlier = b.accessPath, b.many && !b.point, whole.branches[:i]
		r.rest, r.byRow = restOf(rest, b), nil // rows of another index answer others
		from, show := after, visit
		if b.ids != nil {
			if from = nil; bytes.HasPrefix(after, idMark) {
				from = after[len(idMark):]
			}
			show = func(h *candidate) (bool, error) {
				h.key = slices.Concat(idMark, h.id[:])
				return visit(h)
			}
		}
		err := r.each(false, from, func(h *candidate) (bool, error) {
			more, err := show(h)
			stopped = !more
			return more, err
		})
		if err != nil || stopped {
			return err
		}
	}
	return nil
}

// restOf returns the conditions that a branch leaves, with its own alternatives in place of the whole OR: what meets only others
// is offered by theirs. If each of its rows meets one, none is left.
func restOf(rest []query.Expr, b *branch) []query.Expr {
	for i, e := range rest {
		l, ok := e.(*query.Logic)
		if !ok || !l.Or || !slices.Contains(disjuncts(nil, l), b.parts[0]) {
			continue
		}
		if rest = slices.Clone(rest); b.decides() {
			return slices.Delete(rest, i, i+1)
		}
		rest[i] = b.either()
		break
	}
	return rest
}

// decides reports whether each row of a branch meets one of its alternatives.
func (b *branch) decides() bool {
	return !b.many && len(b.exact) == len(b.parts) && !slices.ContainsFunc(b.parts, func(part query.Expr) bool { return !slices.Contains(b.exact, part) })
}

func (b *branch) either() query.Expr {
	if len(b.parts) == 1 {
		return b.parts[0]
	}
	return &query.Logic{Or: true, Parts: b.parts}
}

// offeredBefore reports whether the document of a row meets an alternative of an earlier branch.
func (r *scan) offeredBefore(h *candidate) (bool, error) {
	for _, b := range r.earlier {
		if ok, err := r.holds(h, b.either()); err != nil || ok {
			return ok, err
		}
	}
	return false, nil
}

// maxParents is how many folders are listed one by one; a list of more is compared with each document.
const maxParents = 100

// rewritten replaces conditions by others with the same meaning that rows or indexes answer: a list of folders by an OR of them,
// and, inside other conditions, the beginning of a path by the id of the folder.
func (t planner) rewritten(e query.Expr, inside bool) (query.Expr, error) {
	switch e := e.(type) {
	case *query.Logic:
		out := &query.Logic{Or: e.Or, Parts: slices.Clone(e.Parts)}
		for i, part := range e.Parts {
			var err error
			if out.Parts[i], err = t.rewritten(part, true); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *query.Not:
		x, err := t.rewritten(e.X, true)
		return &query.Not{X: x}, err
	case *query.Predicate:
		switch {
		case e.Field.System == query.SysParentID && e.Op == query.In && !e.Not && len(e.Values) > 1 && len(e.Values) <= maxParents:
			out := &query.Logic{Or: true}
			for _, v := range e.Values {
				out.Parts = append(out.Parts, &query.Predicate{Pos: e.Pos, Field: e.Field, Op: query.Eq, Values: []query.Value{v}})
			}
			return out, nil
		case e.Field.System == query.SysPath && e.Op == query.StartsWith && inside:
			return t.belowID(e)
		}
	}
	return e, nil
}

// belowID replaces the beginning of a path by the id of the folder that it leads to.
func (t planner) belowID(e *query.Predicate) (query.Expr, error) {
	var probe plan
	if _, err := t.takePath(&probe, e); err != nil || len(probe.under) == 0 {
		return e, err
	}
	folder := &query.Field{Pos: e.Field.Pos, Name: "ecm:ancestorId", System: query.SysAncestorID, Kind: schema.String, Many: true}
	return &query.Predicate{Pos: e.Pos, Field: folder, Op: query.Eq, Values: []query.Value{{Pos: e.Pos, V: probe.under[0].String()}}}, nil
}

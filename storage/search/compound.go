package search

import (
	"bytes"
	"iter"
	"slices"

	"catena/storage"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/schema"
)

// compound is an index over several fields as queries see it.
type compound struct {
	*storage.Compound
	columns []*query.Field
	include []*query.Field
}

// newCompounds resolves the fields of the indexes over several fields.
func newCompounds(reg *schema.Registry, declared []*storage.Compound) (out []*compound) {
	for _, d := range declared {
		x := &compound{Compound: d}
		for i, c := range slices.Concat(d.Columns, d.Include) {
			f, err := query.ParseField(c.Key)
			if err != nil {
				break
			}
			probe := query.Select{Columns: []query.Column{{Field: f}}}
			if probe.Check(reg) != nil {
				break
			}
			if i < len(d.Columns) {
				x.columns = append(x.columns, f)
			} else {
				x.include = append(x.include, f)
			}
		}
		if len(x.columns) == len(d.Columns) && len(x.include) == len(d.Include) {
			out = append(out, x)
		}
	}
	return out
}

// maxBases bounds the ranges that several IN conditions multiply to.
const maxBases = 64

// compoundPaths returns the ways by indexes over several fields whose first columns have conditions, or whose order is
// asked for.
func (t planner) compoundPaths(p *plan) (out []*accessPath) {
	if p.q.Correlated() || p.byID && len(p.exprs) == 0 {
		return nil
	}
	for _, x := range t.all {
		if x.ID == "" && !t.usable(x.Name) || !p.within(t, x) {
			continue
		}
		if a := t.compoundPath(p, x); a != nil && (x.ID == "" || t.trusts()) {
			out = append(out, a)
		}
	}
	return out
}

// trusts reports whether automatic indexes have the rows of all documents. It is asked once, and only if one would be of use: the
// answer costs a round trip. If it is not known, they are not used.
func (t planner) trusts() bool {
	if t.spent.trust == nil {
		ok, err := storage.AllAble(t.Tx, storage.KeepsAutomatic)
		ok = ok && err == nil
		t.spent.trust = &ok
	}
	return *t.spent.trust
}

// within reports whether the index has rows of every document that the query may find.
func (p *plan) within(t planner, x *compound) bool {
	if x.Schema != nil {
		return p.haveSchema(t, x.Schema)
	}
	if p.names == nil {
		return false
	}
	for name := range p.names {
		if !x.Types[name] {
			return false
		}
	}
	return true
}

// compoundPath uses an index: conditions of equality on its first columns, one on a range of the next, and the order of
// the rest. It returns nil if the index is of no help.
func (t planner) compoundPath(p *plan, x *compound) *accessPath {
	a := &accessPath{name: x.Name, about: x.Name, index: x, rows: -1, prefix: t.dictionary().IndexPrefix(x.Rows)}
	a.bases = [][]byte{a.prefix}
	for a.fixed < len(x.columns) {
		points, e, exact := p.points(x.columns[a.fixed])
		// Each combination of values is a range of its own. Beyond the bound, reading more rows is cheaper
		// than more ranges.
		if len(points) == 0 || len(points)*len(a.bases) > maxBases || x.Columns[a.fixed].Many && len(points) > 1 {
			break
		}
		a.bases = multiply(a.bases, points, x.Columns[a.fixed].Desc)
		a.fixed++
		if e == nil {
			continue
		}
		if a.filters = append(a.filters, e); exact {
			a.exact = append(a.exact, e)
		}
	}
	for i := a.fixed; i < len(x.columns); i++ {
		if x.Columns[i].Many {
			// A list behind the fixed columns would return a document once for each item.
			return nil // several rows of one document
		}
	}
	slices.SortFunc(a.bases, bytes.Compare)
	// Values of an IN that differ in case only have the same row.
	a.bases = slices.CompactFunc(a.bases, bytes.Equal)
	for _, base := range a.bases {
		a.ranges = append(a.ranges, kv.Prefix(base))
	}
	// Ranges of a descending column would have to be inverted; such columns only serve the order.
	if a.fixed < len(x.columns) && !x.Columns[a.fixed].Desc {
		p.restrict(a, x.columns[a.fixed])
	}
	if len(a.filters) == 0 {
		probe := *p
		if probe.usePath(a); probe.lead == 0 {
			return nil
		}
	}
	return a
}

// points returns the values that conditions of equality ask of a field, as rows hold them; the condition is nil if the
// query has it elsewhere.
func (p *plan) points(f *query.Field) (points [][]byte, e query.Expr, exact bool) {
	add := func(v any) {
		if part, ok := layout.AppendValue(nil, v); ok {
			points = append(points, part)
		}
	}
	switch {
	case f.System == query.SysParentID && p.parent != nil:
		add(p.parent.String())
		return points, nil, true
	case f.System == query.SysType && p.names != nil && len(p.names) <= 8:
		for name := range p.names {
			add(name)
		}
		return points, nil, true
	}
	for _, e := range p.exprs {
		x, ok := e.(*query.Predicate)
		if !ok || !sameField(x.Field, f) {
			continue
		}
		if x.Op == query.IsNull && !x.Not && !f.Many {
			add(nil)
			return points, e, true
		}
		if x.Not || x.Op != query.Eq && (x.Op != query.In || f.Many) {
			continue
		}
		exact = f.Kind != schema.String
		for _, v := range x.Values {
			part, sure, ok := point(f.Kind, v.V)
			if !ok {
				return nil, nil, false
			}
			points, exact = append(points, part), exact && sure
		}
		return points, e, exact
	}
	return nil, nil, false
}

func multiply(bases, points [][]byte, desc bool) (out [][]byte) {
	for _, b := range bases {
		for _, v := range points {
			if v = bytes.Clone(v); desc {
				kv.Invert(v)
			}
			out = append(out, append(bytes.Clone(b), v...))
		}
	}
	return out
}

// restrict narrows the ranges of an index to what conditions ask of the column behind the fixed ones.
func (p *plan) restrict(a *accessPath, f *query.Field) {
	for _, e := range p.exprs {
		x, ok := e.(*query.Predicate)
		if !ok || f.Many || !sameField(x.Field, f) {
			continue
		}
		var ranges []kv.Range
		sure := true
		for _, base := range a.bases {
			r, exact, ok := bounds(base, x)
			if !ok {
				return
			}
			ranges, sure = append(ranges, r...), sure && exact
		}
		a.ranges = intersect(a.ranges, ranges)
		if a.filters = append(a.filters, e); sure {
			a.exact = append(a.exact, e)
		}
	}
}

// fixesParent reports whether the rows are those of the children of one folder.
func (a *accessPath) fixesParent() bool {
	return slices.ContainsFunc(a.index.columns[:a.fixed], func(c *query.Field) bool { return c.System == query.SysParentID })
}

// baseOf returns what the keys of a range begin with before the columns that vary.
func (a *accessPath) baseOf(r kv.Range) []byte {
	for _, base := range a.bases {
		if bytes.HasPrefix(r.Start, base) {
			return base
		}
	}
	return a.prefix
}

// fixesItem reports whether a condition asks that a list has an item, and the ranges of the path are the rows of that item.
// Items that differ in case only share a row, which says so.
func (x *compound) fixesItem(a *accessPath, e *query.Predicate) bool {
	if !e.Field.Many || e.Op != query.Eq || e.Not || !slices.Contains(a.filters, query.Expr(e)) {
		return false
	}
	return slices.ContainsFunc(x.columns[:a.fixed], func(c *query.Field) bool { return c.Many && sameField(c, e.Field) })
}

// column returns the value that a row holds of a field.
func (x *compound) column(h *candidate, prefix int, f *query.Field) (v any, ok bool) {
	return x.held(h, prefix, f, false)
}

// held is column, or, with item, the one item of a list that the row is of.
func (x *compound) held(h *candidate, prefix int, f *query.Field, item bool) (v any, ok bool) {
	if h.Bits&layout.IsPart != 0 {
		return nil, false
	}
	key, tail := h.key[prefix:len(h.key)-16], layout.Reader{B: h.Text}
	for _, c := range x.columns {
		n := layout.ValueLen(key)
		text, other, whole := layout.ReadOriginal(&tail)
		if c.Many == item && sameField(c, f) {
			if other {
				return string(text), true
			}
			v, err := decodeValue(c.Kind, key[:n])
			return v, err == nil && whole
		}
		key = key[n:]
	}
	for _, c := range x.include {
		v, ok := layout.ReadExact(&tail)
		if sameField(c, f) {
			return v, ok
		}
	}
	return nil, false
}

// has reports whether rows hold a field.
func (x *compound) has(f *query.Field) bool {
	return slices.ContainsFunc(x.columns, func(c *query.Field) bool { return sameField(c, f) && !c.Many }) ||
		slices.ContainsFunc(x.include, func(c *query.Field) bool { return sameField(c, f) || c.Many && c.Prop == f.Prop })
}

// useCompound sets how far the order of an index over several fields is that of the results.
func (p *plan) useCompound(a *accessPath) {
	x, at, id := a.index, a.fixed, false
	constant := func(f *query.Field) bool {
		return len(a.bases) == 1 && slices.ContainsFunc(x.columns[:a.fixed], func(c *query.Field) bool { return sameField(c, f) })
	}
	known := false
	p.ordered = p.ordered[:0:0]
	for i, o := range p.order {
		if constant(o.Field) {
			p.lead = i + 1
			continue
		}
		if at == len(x.columns) || !sameField(x.columns[at], o.Field) {
			break
		}
		reverse := o.Desc != x.Columns[at].Desc
		if known && reverse != p.reverse {
			break
		}
		p.reverse, known = reverse, true
		p.ordered = append(p.ordered, i)
		p.lead, at = i+1, at+1
	}
	if !known {
		p.lead = 0
		if len(p.order) == 0 && !p.byID {
			return
		}
		p.reverse = p.idDesc
		if id = at == len(x.columns) && p.constantOrder(constant); id {
			p.lead = len(p.order)
		}
	}
	p.total = at == len(x.columns) && p.lead == len(p.order) && p.reverse == p.idDesc && (known || id)
}

// constantOrder reports whether every item of ORDER BY has the same value in all results.
func (p *plan) constantOrder(constant func(*query.Field) bool) bool {
	return !slices.ContainsFunc(p.order, func(o query.Order) bool { return !constant(o.Field) })
}

// bestCompound returns the way by an index over several fields that has the order of the results, or nil: the one whose
// rows answer the most conditions.
func (t planner) bestCompound(p *plan, all []*accessPath) (best *accessPath) {
	most := -1
	for _, a := range all {
		if a.index == nil {
			continue
		}
		probe := *p
		if probe.usePath(a); probe.lead == 0 {
			continue
		}
		// The weights express an order of preference: a complete order first, then conditions that rows
		// answer, then narrower ranges.
		score := 4*len(a.filters) + 2*a.fixed
		if probe.total {
			score += 100
		}
		r := t.scan(p, a)
		for _, e := range p.exprs {
			if r.answers(e) {
				score += 10
			}
		}
		if score > most {
			most, best = score, a
		}
	}
	if best != nil && best.fixed == 0 && len(best.filters) == 0 && !t.narrower(best.index) && !t.scan(p, best).covers() {
		return nil // as good as the index of the field alone, and larger
	}
	return best
}

// narrower reports whether the index of the first column alone also has rows of documents that this one leaves out: an order
// by dc:title passes the titles of all types, but an index of the type Photo has those of photos only.
func (t planner) narrower(x *compound) bool {
	f := x.columns[0]
	if f.Prop == nil {
		return true
	}
	of := t.schemaOf[f.Prop]
	if x.Schema != nil {
		return x.Schema != of
	}
	return slices.ContainsFunc(t.types.Types(), func(typ *schema.Type) bool {
		return slices.Contains(typ.Schemas, of) && !x.Types[typ.Name]
	})
}

// compoundRow makes the key of the row of a sort key in a range with a base, or what rows with the same leading values
// begin with.
func (r *scan) compoundRow(base []byte, values [][]byte, id []byte) []byte {
	row := bytes.Clone(base)
	for j, i := range r.p.ordered {
		n := len(row)
		row = append(row, values[i]...)
		if r.p.order[i].Desc != r.path.index.Columns[r.path.fixed+j].Desc {
			kv.Invert(row[n:])
		}
	}
	if r.p.total {
		row = append(row, id...)
	}
	return row
}

// after returns where a range of the base goes on after the cursor, as clampRange takes it.
func (r *scan) after(base []byte) ([]byte, error) {
	if r.resume == nil {
		return nil, nil
	}
	values, err := r.p.split(r.resume)
	if err != nil {
		return nil, err
	}
	id := bytes.Clone(r.resume[len(r.resume)-16:])
	if r.p.idDesc {
		kv.Invert(id)
	}
	row := r.compoundRow(base, values, id)
	switch {
	case r.p.total:
		return row, nil
	case r.p.reverse:
		return kv.Prefix(row).End, nil
	}
	return row[:len(row)-1], nil
}

// head is the first row of a range that is not offered yet.
type head struct {
	row  kv.Row
	base int // length of what its key begins with
	next func() (kv.Row, error, bool)
}

// merged offers the rows of all ranges in the order of the columns that vary.
func (r *scan) merged(reverse bool, visit func(h *candidate) (bool, error)) error {
	var heads []*head
	for _, rng := range r.path.ranges {
		base := r.path.baseOf(rng)
		after, err := r.after(base)
		if err != nil {
			return err
		}
		if !clampRange(&rng, reverse, after) {
			continue
		}
		next, stop := iter.Pull2(r.t.kv().Scan(rng))
		defer stop()
		x := &head{base: len(base), next: next}
		if ok, err := x.advance(); err != nil {
			return err
		} else if ok {
			heads = append(heads, x)
		}
	}
	for len(heads) > 0 {
		// There are at most maxBases ranges, so a linear search is as fast as a heap.
		first := 0
		for i, x := range heads[1:] {
			f := heads[first]
			if order := bytes.Compare(x.row.Key[x.base:], f.row.Key[f.base:]); order < 0 != reverse && order != 0 {
				first = i + 1
			}
		}
		if err := r.count(); err != nil {
			return err
		}
		if more, err := r.offerRow(heads[first].row, visit); err != nil || !more {
			return err
		}
		ok, err := heads[first].advance()
		if err != nil {
			return err
		}
		if !ok {
			heads = slices.Delete(heads, first, first+1)
		}
	}
	return nil
}

func (x *head) advance() (ok bool, err error) {
	x.row, err, ok = x.next()
	return ok && err == nil, err
}

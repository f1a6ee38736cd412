package search

import (
	"slices"
	"strings"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/schema"
)

// plan is how one query is answered: an access path to candidates, and the conditions that each of them
// still has to meet. Conditions on columns that every index row covers are taken out of the query and
// checked without decoding anything. A plan belongs to one transaction, because ids and access lists are resolved in it.
type plan struct {
	q     *query.Select
	names map[string]bool // the types wanted; nil: every type
	// Conditions on flags, such as ecm:isVersion = 0, become one comparison of bytes.
	mask   byte // flags that have to be as in want
	want   byte
	parent *layout.ID  // candidates are its children
	flat   bool        // which have no order of their own
	under  []layout.ID // candidates are below all of these
	ids    []layout.ID // candidates are these
	direct []string    // the conditions that gave ids
	found  map[query.Expr]*found
	empty  string // the condition nothing can meet
	exprs  []query.Expr

	order  []query.Order // ORDER BY that decides: not after ecm:uuid, which never ties
	byID   bool          // order is empty, but the results are in the order of ids
	idLast bool          // ecm:uuid was the last item of ORDER BY that decides; order ends before it
	idDesc bool          // ties are in descending order of ids, as the last item of ORDER BY is
	before []byte        // what sort keys begin with that order only some of the results of a query
	lacks  *accessPath   // the index that these are not in
	unset  query.Expr    // the condition that says so

	path     *accessPath
	lead     int            // so many items of ORDER BY are the order of the access path
	ordered  []int          // the items of ORDER BY that the columns of an index over several fields are, after the fixed ones
	total    bool           // which is the order of the results, ties included
	reverse  bool           // walked backwards
	nulls    bool           // the access path has the documents with a value of the first item only
	plain    *accessPath    // finds all matches, in any order
	counter  *accessPath    // a cheaper way to the total, if there is one
	finders  []*accessPath  // find the matches, whose order the access path then gives
	fallback *accessPath    // finds few enough to be sorted, if the path with the order turns out to cost more
	wide     layout.ID      // the folder of STARTSWITH, if there is more below it than is listed for every query
	counted  bool           // the total is wanted
	missing  query.Expr     // the alternative for want of whose index an OR is not answered by indexes; nil: there is none
	answers  []*accessPath  // indexes that together answer all conditions; nil: there are none
	values   []query.Column // what is wanted of every result, in any order; nil: the results themselves
}

// flagFields are the fields that every cover holds as flags.
var flagFields = map[query.System]byte{
	query.SysIsVersion: layout.Version, query.SysIsProxy: layout.Proxy,
	query.SysIsTrashed: layout.Trashed, query.SysIsFolder: layout.Folder,
}

// prepare parses, binds and checks a query.
func (t planner) prepare(src string, o Options) (*query.Select, error) {
	q, err := t.queries.Parse(src)
	if err != nil {
		return nil, err
	}
	if q, err = q.Bind(o.Args, o.Named); err != nil {
		return nil, err
	}
	if n := len(o.Sort); n > query.MaxOrder {
		return nil, fault.Limit.Errorf("sort: %d fields, limit %d", n, query.MaxOrder)
	}
	if len(o.Sort) > 0 {
		q.Order = make([]query.Order, len(o.Sort))
		for i, k := range o.Sort {
			f, err := query.ParseField(k.Field)
			if err != nil {
				return nil, fault.Wrap(err, "sort by %q", k.Field)
			}
			q.Order[i] = query.Order{Field: f, Desc: k.Desc}
		}
	}
	if err := q.Check(t.types); err != nil {
		return nil, err
	}
	return q.At(t.Now()), nil
}

// analyse takes the conditions on covers and places out of the query.
func (t planner) analyse(q *query.Select) (*plan, error) {
	p := &plan{q: q}
	if err := p.orderBy(q.Order); err != nil {
		return nil, err
	}
	p.types(t.types)
	for _, e := range q.Conjuncts() {
		taken := false
		if x, ok := e.(*query.Predicate); ok {
			var err error
			if taken, err = t.take(p, x); err != nil {
				return nil, err
			}
		}
		if taken {
			continue
		}
		e, err := t.rewritten(e, false)
		if err != nil {
			return nil, err
		}
		p.exprs = append(p.exprs, e)
	}
	if p.parent != nil {
		if err := t.flatten(p); err != nil {
			return nil, err
		}
	}
	// Taking conditions apart would let different items of a list satisfy them.
	if q.Correlated() { // decided as a whole, whatever was taken out of it to find candidates
		p.exprs = []query.Expr{q.Where}
	}
	if p.names != nil && len(p.names) == 0 {
		p.empty = "no type satisfies FROM and ecm:primaryType"
	}
	return p, nil
}

// orderBy sets the order of the results.
func (p *plan) orderBy(order []query.Order) error {
	if p.order = order; len(order) > 0 {
		p.idDesc = order[len(order)-1].Desc
	}
	for i, o := range order {
		if o.Field.Many {
			return fault.Invalid.Errorf("query: field %s has several values and cannot be ordered", o.Field.Name)
		}
		// Ids are unique, so what follows in ORDER BY can never decide; and ties are in the order of ids in any case.
		if o.Field.System == query.SysUUID {
			p.order, p.idLast, p.byID, p.idDesc = order[:i], true, i == 0, o.Desc
			break
		}
	}
	return nil
}

// flatten leaves an order by positions out if the folder asked about gives its children none.
func (t planner) flatten(p *plan) error {
	up, err := t.in().Folder(*p.parent)
	if err != nil || up != nil && up.Flags()&layout.Ordered != 0 {
		return err
	}
	p.flat = true
	byPosition := func(o query.Order) bool { return o.Field.System == query.SysPos }
	if slices.ContainsFunc(p.order, byPosition) {
		p.order = slices.DeleteFunc(slices.Clone(p.order), byPosition)
		if p.byID = p.idLast && len(p.order) == 0; !p.idLast {
			p.idDesc = len(p.order) > 0 && p.order[len(p.order)-1].Desc
		}
	}
	return nil
}

// types fills names from FROM.
func (p *plan) types(reg *schema.Registry) {
	p.names = map[string]bool{}
	for _, from := range p.q.From {
		for _, name := range reg.Under(from.Text) {
			p.names[name] = true
		}
	}
	// Every type is wanted, so the type need not be compared.
	if len(p.names) == len(reg.Types()) {
		p.names = nil
	}
}

// take handles a condition that needs no document, and reports whether it did.
func (t planner) take(p *plan, x *query.Predicate) (bool, error) {
	if flag, ok := flagFields[x.Field.System]; ok && (x.Op == query.Eq || x.Op == query.Ne) {
		on := x.Values[0].V.(bool) == (x.Op == query.Eq)
		p.needFlag(flag, on, x)
		return true, nil
	}
	equals := x.Op == query.Eq || x.Op == query.In && !x.Not
	switch x.Field.System {
	case query.SysType:
		if equals {
			p.needTypes(t.types, x)
		}
		return equals, nil
	case query.SysUUID:
		if equals {
			p.needIDs(x)
		}
		return equals, nil
	// A second condition on the parent is left among the others.
	case query.SysParentID:
		if !equals || len(x.Values) != 1 || p.parent != nil {
			return false, nil
		}
		id, ok := exactID(x.Values[0].V)
		if p.parent = &id; !ok {
			p.empty = query.Format(x)
		}
		return true, nil
	case query.SysAncestorID:
		if x.Op == query.Eq {
			id, _ := exactID(x.Values[0].V)
			p.under = append(p.under, id)
		}
		return x.Op == query.Eq, nil
	case query.SysPath:
		return t.takePath(p, x)
	case query.SysFulltext:
		return t.takeText(p, x)
	}
	return false, nil
}

// takePath turns a condition on a path into one on ids, which index rows hold. A path that does not exist gives an id that no document
// has. Paths of versions are not resolved, because they consist of a name alone.
func (t planner) takePath(p *plan, x *query.Predicate) (bool, error) {
	if x.Op != query.Eq && x.Op != query.StartsWith {
		return false, nil
	}
	path := x.Values[0].V.(string)
	if x.Op == query.StartsWith {
		// Clients write the folder with and without a slash at the end.
		path = strings.TrimSuffix(path, "/")
	}
	id := layout.None
	if path == "" && x.Op == query.StartsWith || path == "/" {
		id = t.in().Root()
	} else if strings.HasPrefix(path, "/") && !strings.Contains(path, "//") && !strings.HasSuffix(path, "/") {
		var err error
		if id, err = t.in().Resolve(path); err != nil {
			return false, err
		}
	} else if x.Op == query.Eq {
		return false, nil // the path of a version is its name
	}
	if x.Op == query.StartsWith {
		p.under = append(p.under, id)
		return true, nil
	}
	p.setIDs([]layout.ID{id}, x)
	return true, nil
}

func (p *plan) needFlag(flag byte, on bool, x *query.Predicate) {
	want := byte(0)
	if on {
		want = flag
	}
	if p.mask&flag != 0 && p.want&flag != want {
		p.empty = query.Format(x)
	}
	p.mask, p.want = p.mask|flag, p.want&^flag|want
}

func (p *plan) needTypes(reg *schema.Registry, x *query.Predicate) {
	names := map[string]bool{}
	for _, v := range x.Values {
		name := v.V.(string)
		if _, ok := reg.Type(name); ok && (p.names == nil || p.names[name]) {
			names[name] = true
		}
	}
	p.names = names
}

func (p *plan) needIDs(x *query.Predicate) {
	ids := make([]layout.ID, 0, len(x.Values))
	for _, v := range x.Values {
		if id, ok := exactID(v.V); ok {
			ids = append(ids, id)
		}
	}
	p.setIDs(ids, x)
}

// exactID reads an id that is spelt as documents show theirs.
func exactID(v any) (layout.ID, bool) {
	s, _ := v.(string)
	id, ok := layout.ParseID(s)
	// Comparison of ids is that of text: an id in capital letters equals no document's.
	if !ok || id.String() != s {
		return layout.None, false
	}
	return id, true
}

// setIDs narrows the candidates to known documents.
func (p *plan) setIDs(ids []layout.ID, x *query.Predicate) {
	if p.direct != nil {
		ids = slices.DeleteFunc(ids, func(id layout.ID) bool { return !layout.HasID(p.ids, id) })
	}
	p.ids, p.direct = layout.SortIDs(ids), append(p.direct, query.Format(x))
}

// everyType reports whether most documents may be of a wanted type, so that ranges of the
// index by type would not help.
func (p *plan) everyType(reg *schema.Registry) bool {
	return p.names == nil || len(p.names) > 8 || len(p.names)*2 > len(reg.Types())
}

// notNull reports whether the conditions leave out documents without a value of the field.
func (p *plan) notNull(f *query.Field) bool {
	return slices.ContainsFunc(p.exprs, func(e query.Expr) bool {
		x, ok := e.(*query.Predicate)
		return ok && sameField(x.Field, f) && !x.Field.Many && asksValue(x)
	})
}

// typePath is the index by type, in the order of dc:modified for a single type.
func (p *plan) typePath(t planner) *accessPath {
	a := &accessPath{name: layout.TypeIndex, about: "every document", rows: -1}
	if p.everyType(t.types) {
		a.ranges = []kv.Range{kv.Prefix(t.dictionary().IndexPrefix(layout.TypeIndex))}
		return a
	}
	return p.typesPath(t)
}

// typesPath is the index by type for the types that are wanted, however many they are.
func (p *plan) typesPath(t planner) *accessPath {
	a := &accessPath{name: layout.TypeIndex, rows: -1}
	names := make([]string, 0, len(p.names))
	for name := range p.names {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		a.ranges = append(a.ranges, kv.Prefix(t.dictionary().TypePrefix(name)))
	}
	a.about = "type " + strings.Join(names, ", ")
	if len(names) == 1 {
		a.prefix, a.field = a.ranges[0].Start, t.modified
	}
	return a
}

// settles reports whether an index over several fields has the order, and its rows answer every condition: then nothing is
// compared with it. Conditions on the place of documents, on facets and states may leave few of its rows.
func (t planner) settles(p *plan, order *accessPath) bool {
	return order != nil && order.index != nil && len(p.under) == 0 && (p.parent == nil || order.fixesParent()) && !slices.ContainsFunc(p.exprs, picks) &&
		t.scan(p, order).covers()
}

// picks reports whether a condition that the rows of all indexes answer may be met by few documents, which another index finds.
func picks(e query.Expr) bool {
	x, is := e.(*query.Predicate)
	return is && (x.Field.System == query.SysMixin || x.Field.System == query.SysState) && !x.Not && (x.Op == query.Eq || x.Op == query.In) && !asksFolder(x)
}

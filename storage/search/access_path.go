package search

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"time"

	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/schema"
)

// accessPath is a way to candidates: ranges of an index, the children of a folder, all documents by id, or ids.
type accessPath struct {
	name     string // of the index; in cursors
	about    string // what it answers, for Explain
	ranges   []kv.Range
	prefix   []byte       // of the keys, before the value
	field    *query.Field // whose value follows the prefix
	many     bool         // a document may have several rows
	whole    bool         // all documents are on it, or all values of the field
	point    bool         // they are one value
	exact    []query.Expr // the conditions the ranges answer
	test     []query.Expr // of a field with many values: what the item of a row has to meet
	ids      []layout.ID  // instead of ranges
	parent   *layout.ID   // instead of ranges: children in order
	partial  bool         // the index leaves documents without a value of the field out
	unset    *accessPath  // finds these, if the index has rows of them among those of many other types
	index    *compound    // an index over several fields
	fixed    int          // so many columns of it have one value in each range
	bases    [][]byte     // what keys begin with up to there, in order
	filters  []query.Expr // the conditions that the ranges narrow
	primary  bool         // instead of ranges: every document in the order of ids
	top      *layout.ID   // instead of ranges: what is below it in the order of paths
	branches []*branch    // instead of ranges: the ways to the alternatives of an OR
	rows     int          // estimate; -1: not known
}

// sameField reports whether two fields have the same values.
func sameField(a, b *query.Field) bool {
	if a.System != b.System || a.Prop != b.Prop || a.Rest.Empty() != b.Rest.Empty() {
		return false
	}
	return a.Rest.Empty() || a.Name == b.Name
}

// systemIndexes are the indexes of fields that are no properties.
var systemIndexes = map[query.System]string{
	query.SysName: layout.NameIndex, query.SysState: layout.StateIndex, query.SysLockOwner: layout.LockIndex,
	query.SysProxyTargetID: layout.ProxyIndex, query.SysProxyVersionableID: layout.ProxyOfIndex,
	query.SysVersionableID: layout.VersionIndex, query.SysOwnFacet: layout.FacetIndex,
}

// indexOf returns the index that holds a field, "" if there is none.
func indexOf(f *query.Field) string {
	if f.System != query.Property {
		return systemIndexes[f.System]
	}
	if f.Prop == nil {
		return ""
	}
	if f.Prop.Kind == schema.Complex && !f.Rest.Empty() {
		return indexOfPart(f)
	}
	if !f.Prop.Index && !layout.IsAlwaysIndexed(f.Prop.Key) {
		return ""
	}
	if f.Rest.Empty() || f.Prop.List && f.Rest.Wild() {
		return f.Prop.Key
	}
	return ""
}

// complete reports whether every document that the query may find has a row in the index, so that it alone gives an
// order.
func (p *plan) complete(t planner, index string, f *query.Field) bool {
	if index == layout.NameIndex || layout.IsAlwaysIndexed(index) || p.notNull(f) {
		return true
	}
	s := t.schemaOf[f.Prop]
	return s != nil && t.in().OrdersNulls(index) && p.haveSchema(t, s)
}

// haveSchema reports whether every document that the query may find has a schema: by its type, or because a condition
// asks for a value of it.
func (p *plan) haveSchema(t planner, s *schema.Schema) bool {
	for _, e := range p.exprs {
		if x, ok := e.(*query.Predicate); ok && !x.Field.Many && x.Field.Prop != nil && t.schemaOf[x.Field.Prop] == s && asksValue(x) {
			return true
		}
	}
	for _, typ := range t.types.Types() {
		if (p.names == nil || p.names[typ.Name]) && !slices.Contains(typ.Schemas, s) {
			return false
		}
	}
	return true
}

// asksValue reports whether no document without a value meets a condition.
func asksValue(x *query.Predicate) bool { return x.Op != query.IsNull || x.Not }

// wholePath returns all values of an index.
func (t planner) wholePath(index string, f *query.Field) *accessPath {
	a := &accessPath{name: index, field: f, many: f.Many, whole: true, prefix: t.dictionary().IndexPrefix(index), rows: -1}
	a.ranges, a.about = []kv.Range{kv.Prefix(a.prefix)}, "every "+index
	return a
}

// paths returns a way for each index that conditions name. What answers one of several conditions
// on the same item of a list does not answer the query, but finds candidates.
func (p *plan) paths(t planner) []*accessPath {
	byIndex := map[string]*accessPath{}
	var all []*accessPath
	exprs := p.exprs
	if p.q.Correlated() {
		exprs = p.q.Conjuncts()
	}
	for _, e := range exprs {
		x, ok := e.(*query.Predicate)
		if !ok {
			continue
		}
		found, exact := t.indexPath(p, x)
		if found == nil {
			continue
		}
		a := byIndex[found.name]
		switch {
		case a == nil:
			a = found
			byIndex[a.name], all = a, append(all, a)
		case a.many: // another item may meet the other condition
			continue
		default:
			a.ranges = intersect(a.ranges, found.ranges)
			a.about += " AND " + found.about
		}
		if p.q.Correlated() {
			continue
		}
		if exact {
			a.exact = append(a.exact, e)
		}
		if a.many {
			a.test = append(a.test, e)
		}
	}
	return all
}

// indexPath returns the rows of an index that can satisfy a condition, nil if there is none; exact says that all of them do.
func (t planner) indexPath(p *plan, x *query.Predicate) (a *accessPath, exact bool) {
	index := indexOf(x.Field)
	if index == "" || !t.usable(index) {
		return nil, false
	}
	ranges, exact, ok := bounds(t.dictionary().IndexPrefix(index), x)
	if x.Op == query.IsNull && !x.Not && !x.Field.Many && p.complete(t, index, x.Field) {
		ranges, exact, ok = []kv.Range{kv.Prefix(kv.AppendNil(t.dictionary().IndexPrefix(index)))}, true, true
	}
	if !ok {
		return nil, false
	}
	a = t.wholePath(index, x.Field)
	a.ranges, a.whole, a.about = ranges, false, query.Format(x)
	a.point = (x.Op == query.Eq || x.Op == query.In) && len(ranges) == 1
	return a, exact
}

// bounds returns the rows of an index that can satisfy a condition; exact says that all of
// them do. It is not ok if the index is of no help.
func bounds(base []byte, x *query.Predicate) (ranges []kv.Range, exact, ok bool) {
	if x.Op == query.IsNull {
		return []kv.Range{notNull(base)}, true, x.Not
	}
	if x.Not || x.Op == query.Ne {
		return nil, false, false
	}
	switch x.Op {
	case query.Like, query.ILike:
		text, only := x.Prefix()
		if text == "" {
			return nil, false, false
		}
		return textPrefix(base, text), only && x.Op == query.ILike && len(strings.ToLower(text)) <= layout.MaxIndexed, true
	case query.StartsWith:
		text := strings.TrimSuffix(x.Values[0].V.(string), "/")
		return textPrefix(base, text), false, text != ""
	}
	points, exact := pointsOf(base, x)
	if points == nil {
		return nil, false, false
	}
	switch x.Op {
	case query.Eq, query.In:
		slices.SortFunc(points, bytes.Compare)
		for _, p := range slices.CompactFunc(points, bytes.Equal) {
			ranges = append(ranges, kv.Prefix(p))
		}
		return ranges, exact, true
	case query.Between:
		return []kv.Range{{Start: points[0], End: kv.Prefix(points[1]).End}}, exact, true
	}
	return []kv.Range{halfOpen(base, points[0], x.Op, exact)}, exact, true
}

// pointsOf are the keys of the values of a condition; nil if one cannot be a key. They are exact unless a value was shortened
// or rounded; texts that are compared for equality never are, because the index has them in lower case.
func pointsOf(base []byte, x *query.Predicate) (points [][]byte, exact bool) {
	exact = x.Field.Kind != schema.String || x.Op != query.Eq && x.Op != query.In
	points = make([][]byte, len(x.Values))
	for i, v := range x.Values {
		part, sure, fits := point(x.Field.Kind, v.V)
		if !fits {
			return nil, false
		}
		points[i] = append(slices.Clone(base), part...)
		exact = exact && sure
	}
	return points, exact
}

// halfOpen is the range of the values below or above a point. If the index does not hold values exactly, the rows at the
// point are part of it, and the documents decide.
func halfOpen(base, point []byte, op query.Op, exact bool) kv.Range {
	r := notNull(base)
	switch {
	case op == query.Lt && exact:
		r.End = point
	case op == query.Lt, op == query.Le:
		r.End = kv.Prefix(point).End
	case op == query.Gt && exact:
		r.Start = kv.Prefix(point).End
	default:
		r.Start = point
	}
	return r
}

// notNull is the range of the rows with a value.
func notNull(base []byte) kv.Range {
	r := kv.Prefix(base)
	r.Start = kv.Prefix(kv.AppendNil(slices.Clone(base))).End
	return r
}

// point encodes a value to compare with as index rows hold it; sure is false for text that
// rows hold only in part.
func point(k schema.Kind, v any) (part []byte, sure, ok bool) {
	switch x := v.(type) {
	case string:
		part, _ = layout.AppendValue(nil, x)
		return part, len(strings.ToLower(x)) < layout.MaxIndexed, k == schema.String
	case int64:
		if k == schema.Double {
			return kv.AppendFloat64(nil, float64(x)), true, x < 1<<53 && x > -1<<53
		}
		return kv.AppendInt64(nil, x), true, true
	case float64:
		return kv.AppendFloat64(nil, x), true, k == schema.Double && !math.IsNaN(x)
	case bool, time.Time:
		part, ok = layout.AppendValue(nil, x)
		return part, true, ok
	}
	return nil, false, false
}

// textPrefix is the range of texts that begin with s.
func textPrefix(base []byte, s string) []kv.Range {
	s = strings.ToLower(s)
	part := kv.AppendString(slices.Clone(base), s[:min(len(s), layout.MaxIndexed)])
	return []kv.Range{kv.Prefix(part[:len(part)-2])}
}

// intersect returns what is in a range of both lists.
func intersect(a, b []kv.Range) []kv.Range {
	var out []kv.Range
	for _, x := range a {
		for _, y := range b {
			r := kv.Range{Start: x.Start, End: x.End}
			if bytes.Compare(y.Start, r.Start) > 0 {
				r.Start = y.Start
			}
			if r.End == nil || y.End != nil && bytes.Compare(y.End, r.End) < 0 {
				r.End = y.End
			}
			if r.End == nil || bytes.Compare(r.Start, r.End) < 0 {
				out = append(out, r)
			}
		}
	}
	return out
}

// indexOfPart returns the index that holds a field inside a property, "" if there is none. Every list on the
// way has to be meant as a whole.
func indexOfPart(f *query.Field) string {
	leaf, err := f.Prop.Leaf(f.Rest)
	if err != nil || !leaf.Index {
		return ""
	}
	key := []byte(f.Prop.Key)
	for _, s := range f.Rest.Steps() {
		switch s.Index {
		case schema.NoIndex:
			key = append(append(key, '/'), s.Name...)
		case schema.AnyIndex:
			key = append(key, "/*"...)
		default:
			return ""
		}
	}
	return strings.TrimSuffix(string(key), "/*")
}

// inRanges reports whether a key is in one of the ranges.
func inRanges(ranges []kv.Range, key []byte) bool {
	return slices.ContainsFunc(ranges, func(x kv.Range) bool {
		return bytes.Compare(key, x.Start) >= 0 && (x.End == nil || bytes.Compare(key, x.End) < 0)
	})
}

// clampRange cuts off what comes before the position; it reports whether something is left. A range excludes
// its end, so the position itself is excluded by the end in reverse, and by a zero byte behind it otherwise:
// no key lies between the two.
func clampRange(rng *kv.Range, reverse bool, after []byte) bool {
	rng.Reverse = reverse
	switch {
	case after == nil:
	case reverse && (rng.End == nil || bytes.Compare(after, rng.End) < 0):
		rng.End = after
	case !reverse && bytes.Compare(after, rng.Start) >= 0:
		rng.Start = append(bytes.Clone(after), 0)
	}
	return rng.End == nil || bytes.Compare(rng.Start, rng.End) < 0
}

// primaryName stands in cursors for documents in the order of ids.
const primaryName = "ecm:uuid"

// primaryPath is the way to every document in the order of ids.
func primaryPath() *accessPath {
	return &accessPath{name: primaryName, about: "every document by id", primary: true, whole: true, rows: -1}
}

// kinds are indexes of a kind of documents, by the flag that these have.
var kinds = []struct {
	flag  byte
	index string
	field query.Field // whose values they have
}{
	{layout.Proxy, layout.ProxyIndex, query.Field{Name: "ecm:proxyTargetId", System: query.SysProxyTargetID, Kind: schema.String}},
	{layout.Version, layout.VersionIndex, query.Field{Name: "ecm:versionVersionableId", System: query.SysVersionableID, Kind: schema.String}},
	{layout.Trashed, layout.TrashIndex, query.Field{Name: "ecm:isTrashed", System: query.SysIsTrashed, Kind: schema.Boolean}},
}

// kindPaths adds the ways to all proxies, all versions, all documents in the trash, or all that must be kept, if only these are wanted
// and no condition is answered by a part of their index, and at last the way to the children of a folder, if only these are.
func (t planner) kindPaths(p *plan, all []*accessPath, want string) ([]*accessPath, error) {
	for i := range kinds {
		k := &kinds[i]
		if p.want&k.flag != 0 && t.usable(k.index) && !slices.ContainsFunc(all, func(a *accessPath) bool { return a.name == k.index }) {
			all = append(all, t.wholePath(k.index, &k.field))
		}
	}
	kept, err := t.keptPath(p, want)
	if kept != nil {
		all = append(all, kept)
	}
	if p.parent != nil {
		all = append(all, childrenPath(*p.parent))
	}
	return all, err
}

// keptName stands in cursors for the documents that must be kept.
const keptName = "retention"

// keptPath is the way to the documents that must be kept, if only such documents are wanted and they are few.
func (t planner) keptPath(p *plan, want string) (*accessPath, error) {
	if !slices.ContainsFunc(p.exprs, asksKept) || p.q.Correlated() {
		return nil, nil
	}
	most := t.maxSorted()
	if want == keptName { // they may have become more since the first page
		most = maxWalked
	}
	from, n := t.Repo().Name()+"/", 0
	var ids []layout.ID
	for key := range t.Secret(row.Kept).Scan(from, t.Repo().Name()+"0", false, most+1) { // "0" comes after "/"
		n++
		if id, ok := layout.ParseID(key[len(from):]); ok {
			ids = append(ids, id)
		}
	}
	if err := t.Err(); err != nil || n > most {
		return nil, err
	}
	a := idPath(layout.SortIDs(ids), keptName)
	a.about = "documents that must be kept"
	return a, nil
}

// asksKept reports whether only documents that must be kept meet a condition.
func asksKept(e query.Expr) bool {
	x, ok := e.(*query.Predicate)
	if !ok {
		return false
	}
	switch x.Field.System {
	case query.SysHasLegalHold:
		return (x.Op == query.Eq || x.Op == query.Ne) && x.Values[0].V.(bool) == (x.Op == query.Eq)
	case query.SysRetainUntil:
		return !x.Not && x.Op != query.Ne && x.Op != query.IsNull || x.Op == query.IsNull && x.Not
	}
	return false
}

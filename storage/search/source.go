package search

import (
	"cmp"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/schema"
)

// errNeedDoc says that an index row does not hold a value.
var errNeedDoc = fault.Internal.Errorf("query: the row does not contain the value")

// coverSource reads what it can of a candidate from its index row.
type coverSource struct {
	scan      *scan
	candidate *candidate
}

// Work counts work of the transaction.
func (s *coverSource) Work(n int) error { return s.scan.t.kv().Work(n) }

// System returns the value of a system field, or errNeedDoc.
func (s *coverSource) System(f *query.Field) (any, error) {
	h := s.candidate
	if a := s.scan.path; a.index != nil {
		if v, ok := a.index.column(h, len(a.prefix), f); ok {
			return v, nil
		}
	} else if a.field != nil && a.field.System == f.System && f.System != query.Property && !a.many && a.name != layout.TypeIndex {
		return s.indexed()
	}
	if h.bare {
		switch f.System {
		case query.SysState, query.SysMixin, query.SysOwnFacet:
			return nil, errNeedDoc
		case query.SysType:
			if h.Type == nil {
				return nil, errNeedDoc
			}
		case query.SysPos:
			return s.position()
		}
	}
	switch f.System {
	case query.SysUUID:
		return h.id.String(), nil
	case query.SysParentID:
		if h.Flags&layout.Version != 0 || h.id == s.scan.t.in().Root() {
			return nil, nil
		}
		return h.Parent.String(), nil
	case query.SysAncestorID:
		return s.ancestors()
	case query.SysType:
		return string(h.Type), nil
	case query.SysState:
		if len(h.State) == 0 {
			return nil, nil
		}
		return s.scan.t.in().Intern(h.State), nil
	case query.SysIsVersion, query.SysIsProxy, query.SysIsTrashed, query.SysIsFolder:
		return h.Flags&flagFields[f.System] != 0, nil
	case query.SysName, query.SysPath:
		return s.named(f.System)
	case query.SysMixin:
		if h.Bits&layout.HasFacets == 0 {
			return s.scan.t.facetList(string(h.Type)), nil
		}
	case query.SysOwnFacet:
		if h.Bits&layout.HasFacets == 0 {
			return []any{}, nil
		}
	}
	return s.words(f)
}

// position returns the place of a child among others, if the folder gives it one; rows of the tree do not say that.
func (s *coverSource) position() (any, error) {
	switch h := s.candidate; {
	case s.scan.p.flat:
		return nil, nil
	case h.Bits&layout.HasNode != 0:
		return nil, errNeedDoc
	default:
		position, _ := layout.PositionAndID(h.key)
		return position, nil
	}
}

// named returns the name of the document, or its path, if the row says where it is. The root has none, and those of versions are
// their own.
func (s *coverSource) named(what query.System) (any, error) {
	h := s.candidate
	if h.Bits&layout.HasNode == 0 || h.Flags&layout.Version != 0 || h.id == s.scan.t.in().Root() {
		return nil, errNeedDoc
	}
	if what == query.SysName {
		return string(h.Name), nil
	}
	if err := s.scan.above(h); err != nil || s.scan.up == nil {
		return nil, cmp.Or(err, error(errNeedDoc))
	}
	return s.scan.up.PathOf(string(h.Name)), nil
}

// asksFolder reports whether a condition is on the facet Folderish, which is also a flag: rows say the other facets only of documents
// that have none of their own, and those of children say none at all.
func asksFolder(x *query.Predicate) bool {
	return x.Field.System == query.SysMixin && (x.Op == query.Eq || x.Op == query.Ne) && x.Values[0].V == "Folderish"
}

// ancestors returns the ids of the folders above the document of the row.
func (s *coverSource) ancestors() (any, error) {
	h := s.candidate
	if h.Flags&layout.Version != 0 || h.id == s.scan.t.in().Root() {
		return []any{}, nil
	}
	err := s.scan.above(h)
	return ancestorsOf(s.scan.up), err
}

// words returns the words of the document, if the field stands for them and they were kept.
func (s *coverSource) words(f *query.Field) (any, error) {
	if f.System != query.SysFulltext || f.Prop != nil {
		return nil, errNeedDoc
	}
	if err := s.scan.fetchWords(); err != nil {
		return nil, err
	}
	kept, err := s.scan.t.in().WordsKept(s.candidate.id)
	if err == nil && kept == nil {
		err = errNeedDoc
	}
	return kept, err
}

// Property returns the value the row holds, if it is that property, or errNeedDoc.
func (s *coverSource) Property(f *schema.Field) (any, error) {
	a := s.scan.path
	if a.index != nil {
		if v, ok := a.index.column(s.candidate, len(a.prefix), &query.Field{Prop: f}); ok {
			return v, nil
		}
		return nil, errNeedDoc
	}
	if a.field == nil || a.field.Prop != f || a.many || !a.field.Rest.Empty() {
		return nil, errNeedDoc
	}
	return s.indexed()
}

// indexed returns the value in the row's key.
func (s *coverSource) indexed() (any, error) {
	h, a := s.candidate, s.scan.path
	if h.Bits&layout.IsPart != 0 || a.field == nil || len(h.key) < len(a.prefix)+16 {
		return nil, errNeedDoc
	}
	if h.Bits&layout.HasText != 0 {
		return string(h.Text), nil
	}
	return decodeValue(a.field.Kind, h.key[len(a.prefix):len(h.key)-16])
}

// facetList returns the facets of a type as a list of values, shared.
func (s *described) facetList(typeName string) any {
	if list, ok := s.facetLists[typeName]; ok {
		return list
	}
	return []any{}
}

func facetLists(reg *schema.Registry) map[string][]any {
	lists := map[string][]any{}
	for _, t := range reg.Types() {
		lists[t.Name] = anyList(t.Facets)
	}
	return lists
}

func anyList(s []string) []any {
	out := make([]any, len(s))
	for i := range s {
		out[i] = s[i]
	}
	return out
}

// docSource reads the fields of a document.
type docSource struct {
	t *storage.Tx
	d *storage.Doc
}

// Work counts work of the transaction.
func (s docSource) Work(n int) error { return s.t.Internal(row.Ordered{}).KV().Work(n) }

// Property returns a top-level property, nil where the document does not have it.
func (s docSource) Property(f *schema.Field) (any, error) {
	return s.t.Internal(row.Ordered{}).Value(s.d, f.Key)
}

// System returns the value of a system field.
func (s docSource) System(f *query.Field) (any, error) {
	d := s.d
	switch f.System {
	case query.SysUUID:
		return d.ID(), nil
	case query.SysPath:
		return d.Path(), nil
	case query.SysName:
		return d.Name(), nil
	case query.SysParentID:
		return textOrNil(d.ParentID()), nil
	case query.SysType:
		return d.Type().Name, nil
	case query.SysMixin:
		return anyList(d.Facets()), nil
	case query.SysOwnFacet:
		return anyList(d.OwnFacets()), nil
	case query.SysState:
		return textOrNil(d.State()), nil
	case query.SysIsVersion, query.SysIsProxy, query.SysIsTrashed, query.SysIsFolder:
		return s.t.Internal(row.Ordered{}).Flags(d)&flagFields[f.System] != 0, nil
	case query.SysIsCheckedIn:
		return !d.IsCheckedOut(), nil
	case query.SysFulltext:
		return s.t.Internal(row.Ordered{}).Words(s.d, f.Prop)
	case query.SysAncestorID:
		return s.ancestors(), nil
	case query.SysPos:
		if s.t.Internal(row.Ordered{}).IsOrdered(d) {
			return d.Position(), nil
		}
		return nil, nil
	}
	return s.more(f)
}

// more returns the fields that are asked for less often.
func (s docSource) more(f *query.Field) (any, error) {
	d := s.d
	switch f.System {
	case query.SysVersionLabel:
		return textOrNil(d.VersionLabel()), nil
	case query.SysVersionableID:
		if d.IsVersion() {
			return d.VersionableID(), nil
		}
	case query.SysProxyTargetID:
		if d.IsProxy() {
			return d.TargetID(), nil
		}
	case query.SysProxyVersionableID:
		if d.IsProxy() {
			return d.VersionableID(), nil
		}
	case query.SysIsLatestVersion, query.SysIsLatestMajorVersion:
		latest, major, err := s.t.IsLatest(d)
		if f.System == query.SysIsLatestMajorVersion {
			latest = major
		}
		return latest, err
	case query.SysIsRecord:
		return d.Retention().Record, nil
	case query.SysHasLegalHold:
		return d.Retention().Hold, nil
	case query.SysRetainUntil:
		if until := d.Retention().Until; until != 0 {
			return until.Time(), nil
		}
	case query.SysLockOwner:
		owner, _, _ := d.Locked()
		return textOrNil(owner), nil
	case query.SysLockCreated:
		if _, since, ok := d.Locked(); ok {
			return since, nil
		}
	case query.SysChangeToken:
		return d.ChangeToken(), nil
	case query.SysACL:
		return s.accessLists()
	}
	return nil, nil
}

// accessLists returns the entries of the document's own access lists, none to those who may not read them.
func (s docSource) accessLists() (any, error) {
	lists, err := s.t.ACLs(s.d)
	if fault.Is(err, fault.Denied) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries := []any{}
	for _, l := range lists {
		if l.Name == "inherited" {
			continue
		}
		for i, e := range l.Entries {
			entries = append(entries, map[string]any{
				"name": l.Name, "pos": int64(i), "principal": e.User, "permission": e.Permission, "grant": e.Granted,
				"creator": textOrNil(e.Creator), "begin": timeOrNil(e.Begin), "end": timeOrNil(e.End), "status": e.Status(s.t.Now()),
			})
		}
	}
	return entries, nil
}

func timeOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (s docSource) ancestors() any {
	if s.d.IsVersion() {
		return []any{}
	}
	return ancestorsOf(s.t.Internal(row.Ordered{}).Up(s.d))
}

// ancestorsOf are the ids of a folder and of those above it.
func ancestorsOf(up *storage.Folder) any {
	list := []any{}
	for f := up; f != nil; f = f.Up() {
		list = append(list, f.ID().String())
	}
	return list
}

// decodeValue decodes the value of an index key's first part; kind tells what it holds.
// Text is folded.
func decodeValue(k schema.Kind, part []byte) (any, error) {
	if _, null := kv.DecodeNil(part); null {
		return nil, nil
	}
	switch k {
	case schema.String:
		s, _, err := kv.DecodeString(part)
		return s, err
	case schema.Double:
		v, _, err := kv.DecodeFloat64(part)
		return v, err
	case schema.Boolean:
		v, _, err := kv.DecodeBool(part)
		return v, err
	case schema.Date:
		ms, _, err := kv.DecodeInt64(part)
		return time.UnixMilli(ms).UTC(), err
	case schema.Integer, schema.Long:
		v, _, err := kv.DecodeInt64(part)
		return v, err
	case schema.Blob, schema.Complex: // have no indexes
	}
	return nil, fault.Internal.Errorf("index: values of type %s have none", k)
}

package storage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/query"
	"catena/storage/retention"
	"catena/storage/schema"
	"catena/storage/search"
	"catena/storage/text"
)

// library is a repository with random documents in a tree of folders, some of them secret.
type library struct {
	*world
	*rand.Rand
	ids []string
}

func newLibrary(t testing.TB, docs int, seed uint64, change ...func(*storage.Config)) *library {
	crates := func(c *storage.Config) {
		c.Types = must(schema.Load(schema.Defaults(), fstest.MapFS{"crates.yaml": {Data: []byte(crateTypes)}}))(t)
	}
	l := &library{world: newWorld(t, append([]func(*storage.Config){crates}, change...)...), Rand: rand.New(rand.NewPCG(seed, 7))}
	folders := []string{"/default-domain/workspaces"}
	for i := range 12 {
		up := folders[l.IntN(len(folders))]
		path := fmt.Sprintf("%s/F%d", up, i)
		l.make(path, l.pick("Folder", "OrderedFolder"), storage.Props{"dc:title": l.word()})
		folders = append(folders, path)
	}
	l.grant(folders[3], "-Everyone:Everything")
	l.grant(folders[4], "-members:Read", "ann:Read")
	for i := range docs {
		if i%10 == 0 {
			l.now = l.now.Add(time.Duration(l.IntN(48)) * time.Hour)
		}
		typ := l.pick("File", "Crate", "Note", "Picture")
		l.make(fmt.Sprintf("%s/d%d", folders[l.IntN(len(folders))], i), typ, l.props(typ))
	}
	l.list()
	for range docs / 2 {
		l.change()
	}
	l.list()
	return l
}

// list takes down which documents there are.
func (l *library) list() {
	l.ids = nil
	l.view(l.System(), func(t *storage.Tx) error {
		p, err := search.Query(t, "SELECT * FROM Document", search.Options{})
		if err != nil {
			return err
		}
		for _, d := range p.Docs {
			l.ids = append(l.ids, d.ID())
		}
		return nil
	})
}

func (l *library) pick(s ...string) string { return s[l.IntN(len(s))] }

func (l *library) word() string {
	return l.pick("alpha", "Alpha", "ALPHA", "beta", "Beta gamma", "it's", `q"uo\te`, "100%", "a_b", "ünï", "", strings.Repeat("long ", 60), "alp")
}

func (l *library) props(typ string) storage.Props {
	p := storage.Props{"dc:title": l.word(), "dc:description": l.word()}
	if l.IntN(2) == 0 {
		p["dc:source"] = l.word()
	}
	if l.IntN(3) == 0 {
		p["dc:subjects"] = []any{l.pick("art", "Art", "music"), l.pick("art", "history", "music")}
	}
	if l.IntN(3) == 0 {
		p["dc:coverage"] = l.pick("europe", "europe/France", "europe/Italy", "europes", "asia/Japan")
	}
	if l.IntN(3) == 0 {
		p["dc:expired"] = l.now.AddDate(0, 0, l.IntN(30))
	}
	if typ == "Crate" {
		part := func() any { return map[string]any{"serial": l.pick("p1", "P1", "p2", ""), "count": int64(l.IntN(3))} }
		p["bench:parts"] = []any{part(), part(), part()}[:l.IntN(4)]
		p["bench:box"] = map[string]any{"code": l.word(), "note": l.word()}
		if l.IntN(3) > 0 {
			p["bench:weight"] = int64(l.IntN(9))
		}
		p["nxtag:tags"] = []any{map[string]any{"label": l.pick("red", "blue"), "username": "ann"}}
	}
	return p
}

// change does something to one document.
func (l *library) change() {
	id := storage.Ref(l.ids[l.IntN(len(l.ids))])
	l.update(l.System(), func(t *storage.Tx) error {
		d, err := t.Doc(id)
		if fault.Is(err, fault.NotFound) {
			return nil // deleted by an earlier change
		}
		if err != nil || d.IsFolder() {
			return err
		}
		folder := func() (*storage.Doc, error) {
			return t.Doc(storage.Ref("/default-domain/workspaces/F0"))
		}
		switch n := l.IntN(12); {
		case n == 11:
			up, err := folder()
			if err == nil {
				_, err = t.Publish(d, up, l.IntN(2) == 0)
			}
			return err
		case n == 10 && !d.IsVersion():
			up, err := folder()
			if err == nil {
				_, err = t.CreateProxy(d, up)
			}
			return err
		case n == 9 && !d.IsImmutable():
			_, err = t.CheckIn(d, l.IntN(3) == 0, "")
			return err
		}
		if d.ParentID() == "" {
			return nil
		}
		switch l.IntN(7) {
		case 0:
			_, err = t.SetTrashed(d, !d.IsTrashed())
		case 1:
			if !d.IsImmutable() {
				_, err = t.Lock(d)
			}
		case 2:
			_, err = t.SetACL(d, "local", []storage.ACE{{User: l.pick("ann", "bob"), Permission: "Everything", Granted: l.IntN(2) == 0}})
		case 3:
			if d.IsImmutable() {
				return nil
			}
			if err = d.AddFacet("HiddenInNavigation"); err == nil {
				_, err = t.Save(d, storage.SaveOptions{})
			}
		case 4:
			if err = t.Delete(d); fault.Is(err, fault.Conflict) {
				err = nil // a proxy shows it
			}
		default:
			if d.IsImmutable() {
				return nil
			}
			for k, v := range l.props(d.Type().Name) {
				if e := d.Set(k, v); e != nil {
					return e
				}
			}
			_, err = t.Save(d, storage.SaveOptions{})
		}
		return err
	})
}

// keep makes some documents records, which must be kept for a time, because of a legal hold, for both reasons, or not any longer.
func (l *library) keep() {
	for i := range 12 {
		id := storage.Ref(l.ids[l.IntN(len(l.ids))])
		l.update(l.System(), func(t *storage.Tx) error {
			d, err := t.Doc(id)
			if fault.Is(err, fault.NotFound) || err == nil && (d.IsFolder() || d.IsProxy()) {
				return nil
			}
			d, err = retention.MakeRecord(t, d)
			if err == nil && i%3 > 0 {
				d, err = retention.Hold(t, d, true, "")
			}
			if err == nil && i%2 > 0 {
				d, err = retention.Retain(t, d, storage.Until(l.now.AddDate(0, 0, i).UnixMilli()))
			}
			if err == nil && i%6 == 4 {
				_, err = retention.Hold(t, d, false, "")
			}
			return err
		})
	}
}

// oracle reads every document there is.
type oracle struct {
	docs []oracleDoc
}

type oracleDoc struct {
	d    *storage.Doc
	tx   *storage.Tx
	up   []any
	look map[query.System]any
}

func (o oracleDoc) Property(f *schema.Field) (any, error) {
	if !slices.ContainsFunc(o.d.Schemas(), func(s *schema.Schema) bool { return slices.Contains(s.Fields, f) }) {
		return nil, nil
	}
	return o.d.Get(f.Key)
}

func (o oracleDoc) System(f *query.Field) (any, error) { return o.look[f.System], nil }

// Work counts nothing.
func (o oracleDoc) Work(int) error { return nil }

func (l *library) oracle(t *storage.Tx) (o oracle) {
	l.t.Helper()
	for _, id := range l.ids {
		d, err := t.Doc(storage.Ref(id))
		if fault.Is(err, fault.Denied) || fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			l.t.Fatal(err)
		}
		x := oracleDoc{d: d, tx: t}
		var position any
		sys := t.As(l.System())
		for at := d; ; {
			up, err := sys.Parent(at)
			if err != nil {
				l.t.Fatal(err)
			}
			if up == nil {
				break
			}
			if at == d && up.HasFacet("Orderable") {
				position = d.Position()
			}
			x.up, at = append(x.up, up.ID()), up
		}
		var facets []any
		for _, f := range d.Facets() {
			facets = append(facets, f)
		}
		said := d.Name()
		for _, s := range d.Schemas() {
			for _, f := range s.Fields {
				if v, _ := d.Get(f.Key); f.Search {
					said += " " + fmt.Sprint(v)
				}
			}
		}
		x.look = map[query.System]any{
			query.SysUUID: d.ID(), query.SysPath: d.Path(), query.SysName: d.Name(), query.SysType: d.Type().Name,
			query.SysMixin: facets, query.SysIsTrashed: d.IsTrashed(), query.SysIsVersion: d.IsVersion(), query.SysIsProxy: d.IsProxy(),
			query.SysIsCheckedIn: !d.IsCheckedOut(), query.SysAncestorID: x.up, query.SysIsFolder: d.IsFolder(),
			query.SysFulltext: text.Analyse("", said),
		}
		x.look[query.SysPos] = position
		latest, major, err := t.IsLatest(d)
		if err != nil {
			l.t.Fatal(err)
		}
		x.look[query.SysIsLatestVersion], x.look[query.SysIsLatestMajorVersion] = latest, major
		if d.IsVersion() {
			x.look[query.SysVersionableID] = d.VersionableID()
		}
		if d.IsProxy() {
			x.look[query.SysProxyTargetID], x.look[query.SysProxyVersionableID] = d.TargetID(), d.VersionableID()
		}
		if s := d.State(); s != "" {
			x.look[query.SysState] = s
		}
		if p := d.ParentID(); p != "" {
			x.look[query.SysParentID] = p
		}
		kept := d.Retention()
		if x.look[query.SysIsRecord], x.look[query.SysHasLegalHold] = kept.Record, kept.Hold; kept.Until != 0 {
			x.look[query.SysRetainUntil] = kept.Until.Time()
		}
		if owner, _, ok := d.Locked(); ok {
			x.look[query.SysLockOwner] = owner
		}
		o.docs = append(o.docs, x)
	}
	return o
}

// answer evaluates a query on every document; the ids come in order.
func (o oracle) answer(t testing.TB, src string, reg *schema.Registry, now time.Time) []string {
	t.Helper()
	q, err := query.Parse(src)
	if err == nil {
		q, err = q.Bind(nil, nil)
	}
	if err == nil {
		err = q.Check(reg)
	}
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	q = q.At(now)
	var found []oracleDoc
	for _, d := range o.docs {
		typed := slices.ContainsFunc(q.From, func(n query.Name) bool { return slices.Contains(reg.Under(n.Text), d.d.Type().Name) })
		ok, err := q.Match(d)
		if err != nil {
			t.Fatal(err)
		}
		if ok && typed {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b oracleDoc) int {
		flip := 1
		for _, by := range q.Order {
			va, _ := query.FieldValue(by.Field, a)
			vb, _ := query.FieldValue(by.Field, b)
			if flip = 1; by.Desc {
				flip = -1
			}
			if n := flip * compareValues(va, vb); n != 0 {
				return n
			}
		}
		return flip * strings.Compare(a.d.ID(), b.d.ID())
	})
	ids := []string{}
	for _, d := range found {
		ids = append(ids, d.d.ID())
	}
	return ids
}

// compareValues orders nothing first and text by its first 200 bytes, as indexes hold it.
func compareValues(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	if s, ok := a.(string); ok {
		cut := func(s string) string { s = strings.ToLower(s); return s[:min(len(s), 200)] }
		return strings.Compare(cut(s), cut(b.(string)))
	}
	n, _ := query.Collate(a, b)
	return n
}

// predicate writes a random condition.
func (l *library) predicate() string {
	text := func() string { return query.Quote(l.word()) }
	op := func() string { return l.pick("=", "<>", "<", "<=", ">", ">=") }
	id := func() string { return "'" + l.ids[l.IntN(len(l.ids))] + "'" }
	date := func() string { return "TIMESTAMP '" + l.now.AddDate(0, 0, l.IntN(40)-30).Format(time.RFC3339) + "'" }
	not := l.pick("", "", "NOT ")
	field := l.pick("dc:title", "dc:source", "dc:description", "dc:subjects", "dc:coverage", "ecm:name")
	switch l.IntN(26) {
	case 0, 1, 2:
		return field + op() + text()
	case 3:
		return field + " " + not + "IN (" + text() + "," + text() + "," + text() + ")"
	case 4:
		return field + " " + not + l.pick("LIKE", "ILIKE") + " '" + l.pick("al%", "AL%", "%a%", "Alp_a", "beta", "%", `100\%`, `a\_b`, "long %") + "'"
	case 5:
		return field + " " + not + "BETWEEN " + text() + " AND " + text()
	case 6:
		return field + " IS " + not + "NULL"
	case 7:
		return "dc:coverage STARTSWITH " + l.pick("'europe'", "'europe/'", "'asia'", "'eur'")
	case 8:
		return l.pick("dc:created", "dc:modified", "dc:expired") + op() + date()
	case 9:
		return l.pick("dc:modified", "dc:expired") + " " + not + "BETWEEN " + date() + " AND " + date()
	case 10:
		return "dc:modified > NOW('-P" + fmt.Sprint(l.IntN(20)) + "D')"
	case 11:
		return "ecm:uuid " + not + "IN (" + id() + "," + id() + ")"
	case 12:
		return "ecm:parentId = " + id()
	case 13:
		return "ecm:path STARTSWITH '" + l.pick("/", "/default-domain", "/default-domain/workspaces/F0", "/default-domain/workspaces/F1", "/nowhere") + "'"
	case 14:
		return "ecm:ancestorId = " + id()
	case 15:
		return "ecm:primaryType " + not + "IN ('File', 'Folder')"
	case 16:
		return l.pick("ecm:isTrashed", "ecm:isVersion", "ecm:isProxy", "ecm:isFolderish") + l.pick(" = ", " <> ") + l.pick("0", "1")
	case 17:
		if facets := []string{"'Folderish'", "'HiddenInNavigation'", "'Downloadable'", "'Orderable'", "'None'"}; l.IntN(2) == 0 {
			return "ecm:mixinType " + l.pick("=", "<>") + " " + l.pick(facets...)
		} else {
			return "ecm:mixinType " + not + "IN (" + l.pick(facets...) + ", " + l.pick(facets...) + ")"
		}
	case 18:
		return "ecm:currentLifeCycleState " + op() + " '" + l.pick("project", "deleted", "approved") + "'"
	case 19:
		return "ecm:lockOwner " + l.pick("= 'system'", "IS NULL", "IS NOT NULL")
	case 21:
		return "ecm:pos IS " + not + "NULL"
	case 22:
		return l.pick("ecm:versionVersionableId", "ecm:proxyVersionableId", "ecm:proxyTargetId") + " " + l.pick("= "+id(), "IN ("+id()+","+id()+")", "IS NOT NULL", "IS NULL")
	case 23:
		return l.pick("ecm:isLatestVersion", "ecm:isLatestMajorVersion", "ecm:isCheckedIn") + " = " + l.pick("0", "1")
	case 24:
		return l.pick("ecm:isRecord = ", "ecm:hasLegalHold = ", "ecm:hasLegalHold <> ") + l.pick("0", "1")
	case 25:
		return "ecm:retainUntil " + l.pick(op()+date(), "IS "+not+"NULL", not+"BETWEEN "+date()+" AND "+date())
	case 20:
		return "ecm:fulltext = '" + l.pick("alpha", "beta -gamma", "alp*", `"beta gamma"`, "none OR long") + "'"
	}
	return l.inside(op, text, not)
}

// inside writes a condition on fields inside complex ones, and on several of the same item.
func (l *library) inside(op, text func() string, not string) string {
	serial, n := "'"+l.pick("p1", "P1", "p2", "p3")+"'", fmt.Sprint(l.IntN(3))
	switch l.IntN(8) {
	case 0:
		return "ecm:path = '/default-domain/workspaces'"
	case 1:
		return l.pick("bench:box/code "+op()+text(), "bench:weight "+op()+n, "bench:weight IS "+not+"NULL", "bench:weight "+not+"IN (2, 5, "+n+")")
	case 2:
		return "bench:box/code IS " + not + "NULL"
	case 3:
		return "bench:parts/*/serial " + l.pick(op()+serial, not+"IN ("+serial+", 'p2')", not+"LIKE 'p%'", "IS "+not+"NULL")
	case 4:
		return "bench:parts/1/serial = " + serial
	case 5:
		return "ecm:tag " + not + "IN ('red', 'green')"
	case 6:
		return "bench:parts/*/count " + op() + n
	}
	return "bench:parts/*1/serial " + op() + serial + " AND bench:parts/*1/count " + op() + n
}

func (l *library) condition(depth int) string {
	if depth > 0 {
		switch l.IntN(5) {
		case 0, 1:
			return l.condition(depth-1) + " AND " + l.condition(depth-1)
		case 3:
			return l.either(depth)
		case 4:
			return "NOT (" + l.condition(depth-1) + ")"
		}
	}
	return l.predicate()
}

func (l *library) query() string {
	s := "SELECT * FROM " + l.pick("Document", "Document", "File", "Note", "File, Note", "Folder", "Crate", "Crate")
	if l.IntN(8) > 0 {
		s += " WHERE " + l.condition(l.IntN(3))
	}
	key := func() string {
		return l.pick("dc:title", "dc:modified", "dc:created", "dc:source", "dc:expired", "ecm:name", "ecm:path", "ecm:pos", "dc:creator", "ecm:primaryType", "ecm:uuid", "bench:box/code", "bench:weight", "dc:coverage", "ecm:currentLifeCycleState", "ecm:lockOwner") + l.pick("", " DESC")
	}
	switch l.IntN(3) {
	case 0:
		s += " ORDER BY " + key()
	case 1:
		s += " ORDER BY " + key() + ", " + key()
	}
	return s
}

// pages walks all pages and returns the ids.
func pages(t *storage.Tx, src string, size int) (ids []string, total int, err error) {
	o := search.Options{PageOptions: storage.PageOptions{Limit: size}}
	for i := 0; ; i++ {
		p, err := search.Query(t, src, o)
		if err != nil {
			return nil, 0, fmt.Errorf("page %d: %w", i, err)
		}
		for _, d := range p.Docs {
			ids = append(ids, d.ID())
		}
		if i > 0 && p.Total != total || p.Offset != i*size {
			return nil, 0, fmt.Errorf("page %d: total %d after %d, offset %d", i, p.Total, total, p.Offset)
		}
		total = p.Total
		if p.HasNext != (p.Next != "") {
			return nil, 0, fmt.Errorf("page %d: next %t, cursor %q", i, p.HasNext, p.Next)
		}
		if !p.HasNext {
			return ids, total, nil
		}
		o.After = p.Next
	}
}

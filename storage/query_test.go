package storage_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/schema"
)

// library is a repository with random documents in a tree of folders, some of them secret.
type library struct {
	*world
	*rand.Rand
	ids []string
}

func newLibrary(t testing.TB, docs int, seed uint64) *library {
	l := &library{world: newWorld(t), Rand: rand.New(rand.NewPCG(seed, 7))}
	folders := []string{"/default-domain/workspaces"}
	for i := range 12 {
		up := folders[l.IntN(len(folders))]
		path := fmt.Sprintf("%s/F%d", up, i)
		l.make(path, "Folder", storage.Props{"dc:title": l.word()})
		folders = append(folders, path)
	}
	l.grant(folders[3], "-Everyone:Everything")
	l.grant(folders[4], "-members:Read", "ann:Read")
	for i := range docs {
		if i%10 == 0 {
			l.now = l.now.Add(time.Duration(l.IntN(48)) * time.Hour)
		}
		l.make(fmt.Sprintf("%s/d%d", folders[l.IntN(len(folders))], i), l.pick("File", "File", "Note", "Picture"), l.props())
	}
	l.update(l.System(), func(t *storage.Tx) error {
		p, err := t.Query("SELECT * FROM Document", storage.QueryOptions{})
		if err != nil {
			return err
		}
		for _, d := range p.Docs {
			l.ids = append(l.ids, d.ID())
		}
		return nil
	})
	for range docs / 3 {
		l.change()
	}
	return l
}

func (l *library) pick(s ...string) string { return s[l.IntN(len(s))] }

func (l *library) word() string {
	return l.pick("alpha", "Alpha", "ALPHA", "beta", "Beta gamma", "it's", `q"uo\te`, "100%", "a_b", "ünï", "", strings.Repeat("long ", 60), "alp")
}

func (l *library) props() storage.Props {
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
	return p
}

// change does something to one document.
func (l *library) change() {
	id := storage.Ref(l.ids[l.IntN(len(l.ids))])
	l.update(l.System(), func(t *storage.Tx) error {
		d, err := t.Doc(id)
		if err != nil || d.ParentID() == "" || d.IsFolder() {
			return nil
		}
		switch l.IntN(7) {
		case 0:
			_, err = t.SetTrashed(d, !d.IsTrashed())
		case 1:
			_, err = t.Lock(d)
		case 2:
			_, err = t.SetACL(d, "local", []storage.ACE{{User: l.pick("ann", "bob"), Permission: "Everything", Granted: l.IntN(2) == 0}})
		case 3:
			if err = d.AddFacet("HiddenInNavigation"); err == nil {
				_, err = t.Save(d, storage.SaveOptions{})
			}
		case 4:
			err = t.Delete(d)
		default:
			for k, v := range l.props() {
				if e := d.Set(k, v); e != nil {
					return e
				}
			}
			_, err = t.Save(d, storage.SaveOptions{})
		}
		return err
	})
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
		sys := t.As(l.System())
		for at := d; ; {
			up, err := sys.Parent(at)
			if err != nil {
				l.t.Fatal(err)
			}
			if up == nil {
				break
			}
			x.up, at = append(x.up, up.ID()), up
		}
		var facets []any
		for _, f := range d.Facets() {
			facets = append(facets, f)
		}
		text := func(key string) string {
			v, _ := d.Get(key)
			s, _ := v.(string)
			return s
		}
		x.look = map[query.System]any{
			query.SysUUID: d.ID(), query.SysPath: d.Path(), query.SysName: d.Name(), query.SysType: d.Type().Name,
			query.SysMixin: facets, query.SysIsTrashed: d.IsTrashed(), query.SysIsVersion: d.IsVersion(), query.SysIsProxy: d.IsProxy(),
			query.SysAncestorID: x.up, query.SysPos: d.Position(), query.SysIsFolder: d.IsFolder(),
			query.SysFulltext: text("dc:title") + " " + text("dc:description") + " " + text("note:note") + " " + d.Name(),
		}
		if s := d.State(); s != "" {
			x.look[query.SysState] = s
		}
		if p := d.ParentID(); p != "" {
			x.look[query.SysParentID] = p
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
	switch l.IntN(22) {
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
		return l.pick("ecm:isTrashed", "ecm:isVersion", "ecm:isFolderish") + l.pick(" = ", " <> ") + l.pick("0", "1")
	case 17:
		return "ecm:mixinType " + l.pick("=", "<>") + " '" + l.pick("Folderish", "HiddenInNavigation", "Downloadable") + "'"
	case 18:
		return "ecm:currentLifeCycleState " + op() + " '" + l.pick("project", "deleted", "approved") + "'"
	case 19:
		return "ecm:lockOwner " + l.pick("= 'system'", "IS NULL", "IS NOT NULL")
	case 20:
		return "ecm:fulltext = '" + l.pick("alpha", "beta -gamma", "alp*", `"beta gamma"`, "none OR long") + "'"
	}
	return "ecm:path = '/default-domain/workspaces'"
}

func (l *library) condition(depth int) string {
	if depth > 0 {
		switch l.IntN(5) {
		case 0, 1, 2:
			return l.condition(depth-1) + " AND " + l.condition(depth-1)
		case 3:
			return "(" + l.condition(depth-1) + " OR " + l.condition(depth-1) + ")"
		case 4:
			return "NOT (" + l.condition(depth-1) + ")"
		}
	}
	return l.predicate()
}

func (l *library) query() string {
	s := "SELECT * FROM " + l.pick("Document", "Document", "File", "Note", "File, Note", "Folder")
	if l.IntN(8) > 0 {
		s += " WHERE " + l.condition(l.IntN(3))
	}
	key := func() string {
		return l.pick("dc:title", "dc:modified", "dc:created", "dc:source", "dc:expired", "ecm:name", "ecm:path", "ecm:pos", "dc:creator", "ecm:primaryType", "ecm:uuid") + l.pick("", " DESC")
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
	o := storage.QueryOptions{PageOptions: storage.PageOptions{Limit: size}}
	for i := 0; ; i++ {
		p, err := t.Query(src, o)
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

func TestQueriesAnswerLikeAFullScan(t *testing.T) {
	l := newLibrary(t, 240, 11)
	for _, as := range []*storage.Principal{l.System(), user("ann"), user("bob"), {Name: "nobody"}} {
		for _, costs := range [][6]int{{2000, 200, 1000, 20_000, 300, 20}, {2000, 0, 0, 20_000, 300, 1000}, {2000, 4, 0, 30, 300, 1}, {5, 2, 3, 20, 2, 5}, {1, 0, 0, 1000, 3, 1000}} {
			l.SetCosts(costs[0], costs[1], costs[2], costs[3], costs[4], costs[5])
			l.view(as, func(tx *storage.Tx) error {
				o := l.oracle(tx)
				for range 100 {
					src := l.query()
					want := o.answer(t, src, l.Types(), tx.Now())
					l.compare(tx, src, want)
				}
				return nil
			})
		}
	}
}

func (l *library) compare(tx *storage.Tx, src string, want []string) {
	l.t.Helper()
	size := 1 + l.IntN(60)
	got, total, err := pages(tx, src, size)
	unordered := !strings.Contains(src, "ORDER BY")
	if unordered {
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
	}
	if err != nil || total != len(want) || !slices.Equal(got, want) {
		plan, _ := tx.Explain(src, storage.QueryOptions{})
		l.t.Fatalf("as %s, pages of %d: %s\n%s\n got %d (total %d) %v\nwant %d %v\nerr %v", tx.Principal().Name, size, src, plan, len(got), total, got, len(want), want, err)
	}
	if unordered || len(want) == 0 {
		return
	}
	offset := l.IntN(len(want))
	p, err := tx.Query(src+" LIMIT 20 OFFSET 2", storage.QueryOptions{PageOptions: storage.PageOptions{Offset: offset, Limit: 7}})
	if err != nil {
		l.t.Fatalf("%s: %v", src, err)
	}
	universe := want[min(2, len(want)):min(22, len(want))]
	cut := universe[min(offset, len(universe)):min(offset+7, len(universe))]
	var ids []string
	for _, d := range p.Docs {
		ids = append(ids, d.ID())
	}
	if !slices.Equal(ids, cut) || p.Total != len(universe) {
		l.t.Fatalf("%s, offset %d: got %v (total %d)\nwant %v (total %d)", src, offset, ids, p.Total, cut, len(universe))
	}
}

func TestIndexRowsFollowDocuments(t *testing.T) {
	l := newLibrary(t, 60, 5)
	l.grant("/default-domain/workspaces/F0", "bob:Read")
	l.update(l.System(), func(tx *storage.Tx) error {
		from, err := tx.Doc("/default-domain/workspaces/F0")
		if err != nil {
			return err
		}
		to, err := tx.Doc("/default-domain/workspaces")
		if err != nil {
			return err
		}
		c, err := tx.Copy(from, to, "copy")
		if err == nil {
			_, err = tx.Move(c, to, "moved")
		}
		return err
	})
	l.view(l.System(), func(tx *storage.Tx) error {
		problems, err := tx.IndexProblems()
		if len(problems) > 0 {
			t.Errorf("%d problems:\n%s", len(problems), strings.Join(problems[:min(5, len(problems))], "\n"))
		}
		return err
	})
	if problems, err := l.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	var lost []byte
	err := l.db.Update(t.Context(), func(k *kv.Tx) error {
		for row, err := range k.Scan(kv.Prefix([]byte("x\x10dc:title"))) {
			if err != nil {
				return err
			}
			lost = row.Key
		}
		return k.Delete(lost)
	})
	if problems, e := l.Verify(t.Context()); err != nil || e != nil || len(problems) != 2 {
		t.Errorf("verify after the loss of %q: %v, %v, %v", lost, problems, err, e)
	}
}

func TestQuerySeesOwnWrites(t *testing.T) {
	w := newWorld(t)
	w.update(w.System(), func(tx *storage.Tx) error {
		if err := mk(tx, "/default-domain/workspaces/a", "File", storage.Props{"dc:title": "fresh"}); err != nil {
			return err
		}
		const src = "SELECT * FROM File WHERE dc:title = 'fresh'"
		p, err := tx.Query(src, storage.QueryOptions{})
		if err != nil || len(p.Docs) != 1 {
			t.Fatalf("created: %v, %v", p, err)
		}
		if err := tx.Delete(p.Docs[0]); err != nil {
			return err
		}
		if p, err = tx.Query(src, storage.QueryOptions{}); err != nil || len(p.Docs) != 0 {
			t.Fatalf("deleted: %v, %v", p, err)
		}
		return nil
	})
}

func TestParametersAreValues(t *testing.T) {
	w := newWorld(t)
	titles := []string{"' OR '1'='1", `x\' OR 1=1 --`, "plain", "%", "') OR (dc:title IS NOT NULL", "''", `"`}
	for i, title := range titles {
		w.make(fmt.Sprintf("/default-domain/workspaces/d%d", i), "File", storage.Props{"dc:title": title})
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		for _, title := range titles {
			for _, o := range []storage.QueryOptions{{Args: []any{title}}, {Named: map[string]any{"t": title}}, {Args: []any{[]string{title}}}} {
				src := "SELECT * FROM File WHERE dc:title = ?"
				if o.Named != nil {
					src = "SELECT * FROM File WHERE dc:title = :t"
				} else if _, list := o.Args[0].([]string); list {
					src = "SELECT * FROM File WHERE dc:title IN ?"
				}
				p, err := tx.Query(src, o)
				if err != nil || len(p.Docs) != 1 || p.Docs[0].Title() != title {
					t.Errorf("%q: %v, %v", title, p, err)
				}
			}
		}
		return nil
	})
}

func TestPermissionsComeBeforePages(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		path := fmt.Sprintf("/default-domain/workspaces/d%02d", i)
		w.make(path, "File", storage.Props{"dc:title": fmt.Sprintf("t%02d", i)})
		if i%4 != 0 {
			w.grant(path, "-Everyone:Everything")
		}
	}
	w.view(user("bob"), func(tx *storage.Tx) error {
		for _, src := range []string{"SELECT * FROM File ORDER BY dc:title", "SELECT * FROM File WHERE dc:title >= 't00' ORDER BY dc:title", "SELECT * FROM File WHERE ecm:path STARTSWITH '/default-domain/workspaces' ORDER BY dc:description, dc:title"} {
			p, err := tx.Query(src, storage.QueryOptions{PageOptions: storage.PageOptions{Limit: 4, Offset: 4}})
			if err != nil {
				return err
			}
			var got []string
			for _, d := range p.Docs {
				got = append(got, d.Title())
			}
			if !slices.Equal(got, []string{"t16", "t20", "t24", "t28"}) || p.Total != 10 || !p.HasNext {
				t.Errorf("%s: %v, total %d", src, got, p.Total)
			}
		}
		return nil
	})
}

func TestBounds(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.Limits = storage.Limits{ScanRows: 50, CountLimit: 20, PageSize: 30} })
	w.update(w.System(), func(tx *storage.Tx) error {
		for i := range 80 {
			if err := mk(tx, fmt.Sprintf("/default-domain/workspaces/d%d", i), "File", storage.Props{"dc:title": fmt.Sprintf("t%03d", i)}); err != nil {
				return err
			}
		}
		return nil
	})
	w.view(w.System(), func(tx *storage.Tx) error {
		_, err := tx.Query("SELECT * FROM File WHERE dc:rights = 'none'", storage.QueryOptions{})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Limit || f.Code != "query-too-costly" || !strings.Contains(f.Message, "dc:rights = 'none'") {
			t.Errorf("a costly query: %v", err)
		}
		_, err = tx.Query("SELECT * FROM File", storage.QueryOptions{PageOptions: storage.PageOptions{Offset: 10_001}})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "cursor") {
			t.Errorf("a far offset: %v", err)
		}
		p, err := tx.Query("SELECT * FROM File ORDER BY dc:title", storage.QueryOptions{PageOptions: storage.PageOptions{Limit: 5}})
		if err != nil || p.Total != 20 || !p.More || len(p.Docs) != 5 {
			t.Errorf("a bounded total: %+v, %v", p, err)
		}
		p, err = tx.Query("SELECT * FROM File ORDER BY dc:title", storage.QueryOptions{PageOptions: storage.PageOptions{CountLimit: -1}})
		if err != nil || len(p.Docs) != 30 || !p.HasNext || !p.More {
			t.Errorf("no count: %d documents, %+v, %v", len(p.Docs), p, err)
		}
		p, err = tx.Query("SELECT * FROM File ORDER BY dc:title", storage.QueryOptions{Max: 7, PageOptions: storage.PageOptions{Limit: 5}})
		if err != nil || p.Total != 7 || p.More || !p.HasNext {
			t.Errorf("a maximum: %+v, %v", p, err)
		}
		for _, bad := range []string{"x", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", p.Next + "AAAA"} {
			_, err := tx.Query("SELECT * FROM File ORDER BY dc:title DESC", storage.QueryOptions{PageOptions: storage.PageOptions{After: bad}})
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("cursor %q: %v", bad, err)
			}
		}
		return nil
	})
}

func TestSelectColumns(t *testing.T) {
	w := newWorld(t)
	for i, title := range []string{"a", "b", "a", "c"} {
		w.make(fmt.Sprintf("/default-domain/workspaces/d%d", i), "File", storage.Props{"dc:title": title, "dc:source": fmt.Sprint("s", i)})
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		tests := []struct{ src, want string }{
			{"SELECT dc:title, ecm:name FROM File ORDER BY dc:source LIMIT 2", "[map[dc:title:a ecm:name:d0] map[dc:title:b ecm:name:d1]] 2"},
			{"SELECT DISTINCT dc:title FROM File ORDER BY dc:title DESC", "[map[dc:title:c] map[dc:title:b] map[dc:title:a]] 3"},
			{"SELECT COUNT(*), COUNT(DISTINCT dc:title), MIN(dc:source), MAX(dc:title) FROM File", "[map[COUNT(*):4 COUNT(DISTINCT dc:title):3 MAX(dc:title):c MIN(dc:source):s0]] 1"},
			{"SELECT SUM(uid:major_version), AVG(ecm:pos) FROM Note", "[map[AVG(ecm:pos):<nil> SUM(uid:major_version):<nil>]] 1"},
		}
		for _, tt := range tests {
			r, err := tx.Select(tt.src, storage.QueryOptions{})
			if err != nil {
				t.Errorf("%s: %v", tt.src, err)
				continue
			}
			if got := fmt.Sprintf("%v %d", r.Entries, r.Total); got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.src, got, tt.want)
			}
		}
		_, err := tx.Select("SELECT dc:title, COUNT(*) FROM File", storage.QueryOptions{})
		wantKind(t, err, fault.Invalid, "one figure")
		return nil
	})
}

func TestExplain(t *testing.T) {
	w := newWorld(t)
	w.SetCosts(2, 0, 0, 10, 10, 10)
	for i := range 3 {
		w.make(fmt.Sprintf("/default-domain/workspaces/d%d", i), "File", nil)
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		got, err := tx.Explain("SELECT * FROM File WHERE dc:source >= 's' AND ecm:isTrashed = 0 AND dc:rights = 'x' ORDER BY dc:source", storage.QueryOptions{})
		want := `query: SELECT * FROM File WHERE dc:source >= 's' AND ecm:isTrashed = FALSE AND dc:rights = 'x' ORDER BY dc:source
access: dc:source, dc:source >= 's'; 1 ranges; rows: not counted
types: 1 of ` + fmt.Sprint(len(w.Types().Types())) + `, from the row
row: ecm:isTrashed = false
filter: dc:rights = 'x'
order: dc:source, from the index
bound: 100000 rows, page of 1000, total up to 1000`
		if err != nil || got != want {
			t.Errorf("got\n%s\nwant\n%s\n%v", got, want, err)
		}
		return nil
	})
}

func TestNewIndexesAreFilled(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.make(fmt.Sprintf("/default-domain/workspaces/n%d", i), "Note", storage.Props{"note:mime_type": fmt.Sprint("text/", i)})
	}
	const src = "SELECT * FROM Note WHERE note:mime_type >= 'text/2' ORDER BY note:mime_type"
	answer := func(r *storage.Repo) (ids []string, plan string) {
		err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
			p, err := tx.Query(src, storage.QueryOptions{})
			if err != nil {
				return err
			}
			for _, d := range p.Docs {
				ids = append(ids, d.Name())
			}
			problems, err := tx.IndexProblems()
			if err != nil || len(problems) > 0 {
				t.Errorf("%v, %v", problems, err)
			}
			plan, err = tx.Explain(src, storage.QueryOptions{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return ids, plan
	}
	want := []string{"n2", "n3", "n4"}
	if got, plan := answer(w.Repo); !slices.Equal(got, want) || strings.Contains(plan, "access: note:mime_type") {
		t.Errorf("without an index: %v\n%s", got, plan)
	}
	const indexed = "schemas:\n  note:\n    fields:\n      note: string\n      mime_type: {type: string, index: true}\n"
	for _, layer := range []string{indexed, strings.Replace(indexed, ", index: true", "", 1)} {
		types, err := schema.Load(schema.Defaults(), fstest.MapFS{"schemas.yaml": {Data: []byte(layer)}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := storage.Open(t.Context(), storage.Config{DB: w.db, Blobs: w.blobs, Types: types, Log: slog.New(slog.DiscardHandler)}, adminPassword)
		if err != nil {
			t.Fatal(err)
		}
		r.SetCosts(0, 0, 0, 10, 10, 10)
		got, plan := answer(r)
		if !slices.Equal(got, want) || strings.Contains(plan, "access: note:mime_type") != strings.Contains(layer, "index") {
			t.Errorf("with %s: %v\n%s", layer, got, plan)
		}
	}
}

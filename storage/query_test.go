package storage_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/maintenance"
	"catena/storage/query"
	"catena/storage/schema"
	"catena/storage/search"
)

func TestQueriesAnswerLikeAFullScan(t *testing.T) {
	l := newLibrary(t, 150, 11)
	l.keep()
	for i, as := range []*storage.Principal{l.System(), user("ann"), user("bob"), {Name: "nobody"}} {
		if i == 1 { // from here on terms answer full-text conditions
			indexText(t, l.Repo)
		}
		for _, costs := range [][6]int{{2000, 200, 1000, 20_000, 300, 20}, {2000, 0, 0, 20_000, 300, 1000}, {2000, 4, 0, 30, 300, 1}, {5, 2, 3, 20, 2, 5}, {1, 0, 0, 1000, 3, 1000}} {
			search.SetCosts(l.Repo, search.Costs{Sorted: costs[0], Few: costs[1], Subtree: costs[2], Known: costs[3], Loads: costs[4], Factor: costs[5]})
			l.view(as, func(tx *storage.Tx) error {
				o := l.oracle(tx)
				for range 40 {
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
		plan, _ := search.Explain(tx, src, search.Options{})
		l.t.Fatalf("as %s, pages of %d: %s\n%s\n got %d (total %d) %v\nwant %d %v\nerr %v", tx.Principal().Name, size, src, plan, len(got), total, got, len(want), want, err)
	}
	if unordered || len(want) == 0 {
		return
	}
	offset := l.IntN(len(want))
	p, err := search.Query(tx, src+" LIMIT 20 OFFSET 2", search.Options{PageOptions: storage.PageOptions{Offset: offset, Limit: 7}})
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

// either writes an OR, half of the time one whose alternatives indexes find, with conditions beside these that rows or documents answer.
func (l *library) either(depth int) string {
	if l.IntN(2) == 0 {
		return "(" + l.condition(depth-1) + " OR " + l.condition(depth-1) + ")"
	}
	var all []string
	for range 2 + l.IntN(2) {
		parts := []string{l.pick("dc:title = ", "ecm:name = ", "dc:source >= ") + query.Quote(l.word())}
		for range l.IntN(3) {
			other := l.pick("ecm:mixinType = 'Folderish'", "ecm:mixinType <> 'Folderish'", "ecm:currentLifeCycleState = 'project'", l.predicate())
			parts = slices.Insert(parts, l.IntN(len(parts)+1), other)
		}
		all = append(all, strings.Join(parts, " AND "))
	}
	return "(" + strings.Join(all, " OR ") + ")"
}

// TestItemsThatDifferInCase has items share a row of the index.
func TestItemsThatDifferInCase(t *testing.T) {
	w := newWorld(t)
	w.make("/a", "File", storage.Props{"dc:subjects": []string{"Music", "Music", "museum"}})
	w.view(w.System(), func(tx *storage.Tx) error {
		for src, want := range map[string]int{"LIKE 'm%'": 1, "LIKE 'M%'": 1, "LIKE 'mu_ic'": 0, "ILIKE 'm%'": 1, "IN ('Music', 'museum')": 1} {
			p, err := search.Query(tx, "SELECT * FROM File WHERE dc:subjects "+src, search.Options{})
			if err != nil || len(p.Docs) != want || p.Total != want {
				t.Errorf("%s: %d documents, total %d, want %d; %v", src, len(p.Docs), p.Total, want, err)
			}
		}
		return nil
	})
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
	if problems, err := maintenance.Verify(t.Context(), l.Repo); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	var lost []byte
	err := l.db.Update(t.Context(), func(k *kv.Tx) error {
		for row, err := range k.Scan(kv.Prefix(l.IndexPrefix("dc:title"))) {
			if err != nil {
				return err
			}
			lost = row.Key
		}
		return k.Delete(lost)
	})
	if problems, e := maintenance.Verify(t.Context(), l.Repo); err != nil || e != nil || len(problems) != 2 {
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
		p, err := search.Query(tx, src, search.Options{})
		if err != nil || len(p.Docs) != 1 {
			t.Fatalf("created: %v, %v", p, err)
		}
		if err := tx.Delete(p.Docs[0]); err != nil {
			return err
		}
		if p, err = search.Query(tx, src, search.Options{}); err != nil || len(p.Docs) != 0 {
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
			for _, o := range []search.Options{{Args: []any{title}}, {Named: map[string]any{"t": title}}, {Args: []any{[]string{title}}}} {
				src := "SELECT * FROM File WHERE dc:title = ?"
				if o.Named != nil {
					src = "SELECT * FROM File WHERE dc:title = :t"
				} else if _, list := o.Args[0].([]string); list {
					src = "SELECT * FROM File WHERE dc:title IN ?"
				}
				p, err := search.Query(tx, src, o)
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
			p, err := search.Query(tx, src, search.Options{PageOptions: storage.PageOptions{Limit: 4, Offset: 4}})
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
	w := newWorld(t, func(c *storage.Config) { c.Limits = storage.Limits{QueryRows: 50, CountLimit: 20, PageSize: 30} })
	w.update(w.System(), func(tx *storage.Tx) error {
		for i := range 80 {
			if err := mk(tx, fmt.Sprintf("/default-domain/workspaces/d%d", i), "File", storage.Props{"dc:title": fmt.Sprintf("t%03d", i)}); err != nil {
				return err
			}
		}
		return nil
	})
	w.view(w.System(), func(tx *storage.Tx) error {
		_, err := search.Query(tx, "SELECT * FROM File WHERE dc:rights = 'none'", search.Options{})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Limit || f.Code != fault.CodeQueryTooCostly || !strings.Contains(f.Message, "dc:rights = 'none'") {
			t.Errorf("a costly query: %v", err)
		}
		_, err = search.Query(tx, "SELECT * FROM File", search.Options{PageOptions: storage.PageOptions{Offset: 10_001}})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "cursor") {
			t.Errorf("a far offset: %v", err)
		}
		p, err := search.Query(tx, "SELECT * FROM File ORDER BY dc:title", search.Options{PageOptions: storage.PageOptions{Limit: 5}})
		if err != nil || p.Total != 20 || !p.More || len(p.Docs) != 5 {
			t.Errorf("a bounded total: %+v, %v", p, err)
		}
		p, err = search.Query(tx, "SELECT * FROM File ORDER BY dc:title", search.Options{PageOptions: storage.PageOptions{CountLimit: -1}})
		if err != nil || len(p.Docs) != 30 || !p.HasNext || !p.More {
			t.Errorf("no count: %d documents, %+v, %v", len(p.Docs), p, err)
		}
		p, err = search.Query(tx, "SELECT * FROM File ORDER BY dc:title", search.Options{Max: 7, PageOptions: storage.PageOptions{Limit: 5}})
		if err != nil || p.Total != 7 || p.More || !p.HasNext {
			t.Errorf("a maximum: %+v, %v", p, err)
		}
		for _, bad := range []string{"x", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", p.Next + "AAAA"} {
			_, err := search.Query(tx, "SELECT * FROM File ORDER BY dc:title DESC", search.Options{PageOptions: storage.PageOptions{After: bad}})
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
			r, err := search.Select(tx, tt.src, search.Options{})
			if err != nil {
				t.Errorf("%s: %v", tt.src, err)
				continue
			}
			if got := fmt.Sprintf("%v %d", r.Entries, r.Total); got != tt.want {
				t.Errorf("%s:\n got %s\nwant %s", tt.src, got, tt.want)
			}
		}
		_, err := search.Select(tx, "SELECT dc:title, COUNT(*) FROM File", search.Options{})
		wantKind(t, err, fault.Invalid, "aggregates all results")
		return nil
	})
}

func TestExplain(t *testing.T) {
	w := newWorld(t)
	search.SetCosts(w.Repo, search.Costs{Sorted: 2, Known: 10, Loads: 10, Factor: 10})
	for i := range 3 {
		w.make(fmt.Sprintf("/default-domain/workspaces/d%d", i), "File", nil)
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		got, err := search.Explain(tx, "SELECT * FROM File WHERE dc:source >= 's' AND ecm:isTrashed = 0 AND dc:rights = 'x' ORDER BY dc:source", search.Options{})
		want := `query: SELECT * FROM File WHERE dc:source >= 's' AND ecm:isTrashed = FALSE AND dc:rights = 'x' ORDER BY dc:source
access: dc:source, dc:source >= 's'; 1 ranges; rows: not counted
types: 1 of ` + fmt.Sprint(len(w.Types().Types())) + `, from the row
row: ecm:isTrashed = false
filter: dc:rights = 'x'
order: dc:source, from the index
bound: 1000000 rows, page of 1000, total up to 1000
read: 0 rows, 0 documents besides those of the page`
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
	const src = "SELECT * FROM Note WHERE note:mime_type >= 'text/2' AND ecm:isVersion = 0 ORDER BY note:mime_type"
	answer := func(r *storage.Repo) (ids []string, plan string) {
		err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
			p, err := search.Query(tx, src, search.Options{})
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
			plan, err = search.Explain(tx, src, search.Options{})
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
		search.SetCosts(r, search.Costs{Known: 10, Loads: 10, Factor: 10})
		got, plan := answer(r)
		if !slices.Equal(got, want) || strings.Contains(plan, "access: note:mime_type") != strings.Contains(layer, "index") {
			t.Errorf("with %s: %v\n%s", layer, got, plan)
		}
	}
}

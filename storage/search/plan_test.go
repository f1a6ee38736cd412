package search

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/storagetest"
)

// planned is the plan of a query in a deck.
func planned(t *testing.T, tx *storage.Tx, src string) *execution {
	t.Helper()
	w, err := plannerOf(tx).execution(src, Options{})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return w
}

// TestOffsets: an offset is bounded wherever it is said, and the sum of both cannot get around that.
func TestOffsets(t *testing.T) {
	w := deck(t, nil)
	view(t, w.Repo, func(tx *storage.Tx) error {
		for _, c := range []struct {
			offset int
			clause string
			want   string
		}{
			{0, "", ""},
			{-5, "", ""},
			{maxOffset, "", ""},
			{0, " LIMIT 5 OFFSET 10000", ""},
			{5000, " LIMIT 5 OFFSET 5000", ""},
			{5000, " LIMIT 5 OFFSET 5001", "query: offset 10001, limit 10000; use a cursor (after) instead"},
			{maxOffset + 1, "", "query: offset 10001, limit 10000; use a cursor (after) instead"},
			{1, " LIMIT 5 OFFSET 1000000", "query: offset 1000001, limit 10000; use a cursor (after) instead"},
			{math.MaxInt, " LIMIT 5 OFFSET 1", "query: offset 9223372036854775807, limit 10000; use a cursor (after) instead"},
		} {
			_, err := Query(tx, "SELECT * FROM Card"+c.clause, Options{PageOptions: storage.PageOptions{Offset: c.offset}})
			if c.want == "" && err != nil || c.want != "" && (!fault.Is(err, fault.Invalid) || err.Error() != c.want) {
				t.Errorf("%d and%s: %v", c.offset, c.clause, err)
			}
		}
		return nil
	})
}

// TestAccessPaths: the index that conditions and the order call for, how many ranges of it, and how far its order goes.
func TestAccessPaths(t *testing.T) {
	w := deck(t, nil)
	view(t, w.Repo, func(tx *storage.Tx) error {
		folder, err := tx.Doc("/cards")
		if err != nil {
			return err
		}
		const pair, due = "card:code, card:count desc; card:share of type Card", "card:done, card:due of type Card"
		for _, c := range []struct {
			where, path string
			ranges      int
			lead        int
			total       bool
		}{
			{"card:count = 7", "card:count", 1, 0, false},
			{"card:count IN (9, 7, 7)", "card:count", 2, 0, false},
			{"card:count BETWEEN 9 AND 1", "card:count", 1, 0, false},
			{"card:count > 3 AND card:count < 7", "card:count", 1, 0, false},
			{"card:count IN (1, 2, 3) AND card:count >= 2", "card:count", 2, 0, false},
			{"card:note = 'n1'", "type", 1, 0, false},
			{"card:code = 'a'", pair, 1, 0, false},
			{"card:code IN ('a', 'A', 'b')", pair, 2, 0, false},
			{"card:code = 'a' AND card:count > 5", pair, 1, 0, false},
			{"card:code = 'a' ORDER BY card:count", pair, 1, 1, true},
			{"card:code = 'a' ORDER BY card:count DESC", pair, 1, 1, true},
			{"card:code = 'a' ORDER BY card:code, card:count", pair, 1, 2, true},
			{"card:code IN ('a', 'b') ORDER BY card:count DESC", pair, 2, 1, true},
			{"card:count >= 0 ORDER BY card:code, card:count DESC", pair, 1, 2, true},
			{"card:done = 1 AND card:due >= DATE '2026-03-02' ORDER BY card:due", due, 1, 1, true},
			{"card:done = 1 ORDER BY card:due DESC", due, 1, 1, true},
			{"ecm:uuid = '" + folder.ID() + "'", "ecm:uuid", 0, 0, false},
			{"ecm:path = '/cards/c01'", "ecm:uuid", 0, 0, false},
			{"ecm:parentId = '" + folder.ID() + "' AND card:note = 'n1'", "children", 0, 0, false},
			{"ecm:parentId IN ('" + folder.ID() + "')", "children", 0, 0, false},
		} {
			p := planned(t, tx, "SELECT * FROM Card WHERE "+c.where).p
			if p.path.name != c.path || len(p.path.ranges) != c.ranges || p.lead != c.lead || p.total != c.total {
				t.Errorf("%s: %q, %d ranges, %d of the order, total %t", c.where, p.path.name, len(p.path.ranges), p.lead, p.total)
			}
		}
		return nil
	})
}

// everyCosts make the planner prefer each kind of plan in turn.
var everyCosts = []Costs{
	{2000, 200, 1000, 200_000, 300, 10}, {0, 0, 0, 0, 0, 1}, {5, 1, 0, 1000, 1, 1}, {30, 10, 0, 10, 2, 2}, {1_000_000, 100_000, 100_000, 1_000_000, 1_000_000, 1000}, {20, 0, 1000, 5, 10, 100},
}

// TestCostsChangeNothing: what a query returns does not depend on which plan was thought to be cheap.
func TestCostsChangeNothing(t *testing.T) {
	conditions := []string{
		"card:count BETWEEN 9 AND 1", "card:count BETWEEN 10 AND 30", "card:note = 'n1' AND card:count > 10", "card:code = 'b' AND card:share > 1", "card:tags/* = 'x1'",
		"card:tags/* IN ('x1', 'y') AND card:done = 1", "card:shelf IS NULL AND card:count < 40", "card:shelf IS NOT NULL", "ecm:path STARTSWITH '/cards' AND card:note <> 'n2'",
		"card:code IN ('A', 'b') AND card:done = 0", "card:done = 1 AND card:due > DATE '2026-03-03'", "NOT (card:count > 30 OR card:code = 'c')", "dc:title LIKE 't1%'",
		"card:count < 9 OR card:count = 30 OR card:tags/* = 'x1'", "(card:count < 9 OR card:done = 1) AND (card:note = 'n1' OR card:due > DATE '2026-03-06')",
		"(card:count = 7 AND card:note = 'n2') OR (card:note = 'n1' AND dc:title LIKE 't1%') OR ecm:path = '/cards/c05'", "NOT (ecm:path STARTSWITH '/cards') OR card:tags/* IN ('x1', 'y') AND card:count < 20",
	}
	w := deck(t, nil)
	want := map[string][]string{}
	for i, costs := range everyCosts {
		SetCosts(w.Repo, costs)
		view(t, w.Repo, func(tx *storage.Tx) error {
			for j, where := range conditions {
				order := ordersOf[(i+j)%len(ordersOf)]
				for _, order := range []string{" ORDER BY dc:title", " ORDER BY card:shelf DESC, card:note", order} {
					src := "SELECT * FROM Card WHERE " + where + order
					page, err := Query(tx, src, Options{})
					if err != nil {
						return fmt.Errorf("%s: %w", src, err)
					}
					got := names(page)
					if order == "" {
						slices.Sort(got)
					}
					if page.Total != len(got) || len(got) == 60 || where == conditions[0] && len(got) > 0 {
						t.Errorf("%s: %d, total %d", src, len(got), page.Total)
					}
					if want[src] == nil {
						want[src] = append([]string{}, got...)
					} else if !slices.Equal(got, want[src]) {
						t.Errorf("%s with %+v:\n%v\nwant\n%v", src, costs, got, want[src])
					}
					slices.Sort(got)
					if all := want[where]; all == nil {
						want[where] = append([]string{}, got...)
					} else if !slices.Equal(got, all) {
						t.Errorf("%s finds %v, in another order %v", src, got, all)
					}
				}
			}
			return nil
		})
	}
}

// TestAdvice: an index is advised that the query would use, with a column for each condition and order that an index can have.
func TestAdvice(t *testing.T) {
	for _, c := range []struct{ where, columns, include string }{
		{"card:note = 'a'", "card:note", ""},
		{"card:note = 'a' AND card:count > 3", "card:note card:count", ""},
		{"card:note = 'a' AND card:count > 3 ORDER BY dc:title DESC", "card:note dc:title desc", "card:count"},
		{"card:note IN ('a', 'b') ORDER BY card:note", "card:note", ""},
		{"card:note <> 'a'", "card:note", ""},
		{"card:note <> 'a' ORDER BY dc:title", "dc:title", "card:note"},
		{"card:note = 'a' OR card:count = 3", "", "card:note card:count"},
		{"card:tags/* = 'a' AND dc:subjects/* = 'b' AND card:note = 'c'", "card:tags/* card:note", "dc:subjects"},
		{"card:tags/* IN ('a', 'b')", "", "card:tags"},
		{"card:tags = 'a' AND card:tags = 'b' ORDER BY dc:title", "card:tags dc:title", "card:tags"},
		{"ecm:currentLifeCycleState = 'a' AND card:note = 'b'", "ecm:currentLifeCycleState card:note", ""},
		{"file:content/name = 'a'", "file:content/name", ""},
	} {
		q := selected(t, "SELECT * FROM Card WHERE "+c.where)
		p := &plan{q: q, exprs: q.Conjuncts(), order: q.Order}
		x := p.advised()
		if got := strings.Join(x.columns, " "); got != c.columns || strings.Join(x.include, " ") != c.include {
			t.Errorf("%s: columns %s, include %s", c.where, got, x.include)
		}
	}
}

// TestShape: queries that differ in their values have one shape, whatever the order of their conditions.
func TestShape(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"card:count = 1", "card:count = 2", "FROM Card WHERE card:count ="},
		{"card:count = 1 AND card:note = 'a'", "card:note = 'b' AND card:count = 7", "FROM Card WHERE card:count =, card:note ="},
		{"card:count = 1 OR card:count = 2", "card:count = 3", "FROM Card WHERE card:count ="},
		{"card:note NOT LIKE 'a%' ORDER BY dc:title DESC", "card:note NOT LIKE 'b' ORDER BY dc:title DESC", "FROM Card WHERE card:note NOT LIKE ORDER BY dc:title DESC"},
		{"card:count IN (1, 2)", "card:count IN (3)", "FROM Card WHERE card:count IN"},
	} {
		for _, where := range []string{c.a, c.b} {
			q := selected(t, "SELECT * FROM Card WHERE "+where)
			if got := (&plan{q: q, order: q.Order}).shape(); got != c.want {
				t.Errorf("%s: %s, want %s", where, got, c.want)
			}
		}
	}
}

// TestCostly: the error names the conditions in short, cut between characters.
func TestCostly(t *testing.T) {
	for n := range 8 {
		q := selected(t, "SELECT * FROM Card WHERE card:note = '"+strings.Repeat("x", n)+strings.Repeat("😀", 100)+"'")
		err := (&plan{q: q}).costly(errCostly, 10)
		if text := err.Error(); strings.ToValidUTF8(text, "?") != text || !strings.Contains(text, "😀…; no index") || len(text) > 300 || fault.CodeOf(err) != fault.CodeQueryTooCostly {
			t.Errorf("%q", text)
		}
	}
	if err := (&plan{q: selected(t, "SELECT * FROM Card, Note")}).costly(errCostly, 7); err.Error() != "query: more than 7 rows read for FROM Card, Note; no index is selective enough" {
		t.Errorf("got %q", err)
	}
	err := (&plan{q: selected(t, "SELECT * FROM Card")}).costly(errLong, 7)
	if want := "query: reading rows took more than 5s for FROM Card; no index is selective enough"; err.Error() != want || !errors.Is(errLong, errCostly) {
		t.Errorf("got %q, want %q", err, want)
	}
}

// TestEstimates: counts are kept for a while, the old ones are forgotten, and a count that was broken off is told apart.
func TestEstimates(t *testing.T) {
	var e estimates
	if _, ok := e.get("a"); ok {
		t.Error("an estimate before the first")
	}
	e.put("a", 70, true)
	if x, ok := e.get("a"); !ok || x.rows != 70 || !x.more {
		t.Errorf("%+v", x)
	}
	e.byName["a"] = estimate{70, false, time.Now().Add(-time.Second)}
	if _, ok := e.get("a"); ok {
		t.Error("an old estimate is used")
	}
	for i := range 2*estimatesKept + 5 {
		e.put(fmt.Sprint(i), i, false)
	}
	if x, ok := e.get(fmt.Sprint(2*estimatesKept + 4)); len(e.byName) > estimatesKept || !ok || x.rows != 2*estimatesKept+4 {
		t.Errorf("%d are kept; the last %+v", len(e.byName), x)
	}
	a, b := []kv.Range{kv.Prefix([]byte("a"))}, []kv.Range{kv.Prefix([]byte("a")), kv.Prefix([]byte("b"))}
	if rangesKey(a) == rangesKey(b) || rangesKey(a) != rangesKey(slices.Clone(a)) || rangesKey(nil) == rangesKey(a) {
		t.Error("ranges have the wrong names")
	}
}

// TestSlowShapes: slow queries are counted by shape, logged at most once in a while, and never more than a number of them kept.
func TestSlowShapes(t *testing.T) {
	s := &slowQueries{}
	for i, c := range []struct {
		one   SlowQuery
		count int
		log   bool
	}{
		{SlowQuery{Shape: "a", Longest: 3, Rows: 30, Last: day}, 1, true},
		{SlowQuery{Shape: "a", Longest: 2, Rows: 20, Last: day.Add(time.Minute), Refused: 1}, 2, false},
		{SlowQuery{Shape: "b", Longest: 9, Last: day}, 1, true},
		{SlowQuery{Shape: "a", Longest: 4, Rows: 40, Last: day.Add(slowEvery), Advice: "x"}, 3, true},
		{SlowQuery{Shape: "a", Longest: 1, Last: day.Add(slowEvery + time.Second)}, 4, false},
	} {
		if count, log := s.add(c.one); count != c.count || log != c.log {
			t.Errorf("%d: %d, %t", i, count, log)
		}
	}
	if a := s.byShape["a"].SlowQuery; a.Longest != 4 || a.Rows != 40 || a.Refused != 1 || a.Advice != "x" || a.Count != 4 {
		t.Errorf("%+v", a)
	}
	for i := range 3 * slowShapes {
		s.add(SlowQuery{Shape: fmt.Sprint(i), Last: day})
	}
	if len(s.byShape) > slowShapes {
		t.Errorf("%d shapes are kept", len(s.byShape))
	}
}

// TestExplainIsForAdministrators: what a query reads depends on documents that others may not know of.
func TestExplainIsForAdministrators(t *testing.T) {
	w := deck(t, nil)
	for _, c := range []struct {
		as *storage.Principal
		ok bool
	}{{w.System(), true}, {&storage.Principal{Name: "Administrator", Admin: true}, true}, {&storage.Principal{Name: "ann"}, false}} {
		err := w.View(t.Context(), c.as, func(tx *storage.Tx) error {
			rows, err := Select(tx, "explain SELECT * FROM Card WHERE card:count BETWEEN 2 AND 4 ORDER BY card:note", Options{})
			if err == nil && (rows.Total < 6 || !strings.HasPrefix(rows.Entries[0]["plan"].(string), "query: ")) {
				t.Errorf("%+v", rows)
			}
			return err
		})
		if c.ok && err != nil {
			t.Errorf("%s: %v", c.as.Name, err)
		} else if !c.ok {
			storagetest.WantKind(t, err, fault.Denied, "only administrators may explain queries")
		}
	}
	for src, want := range map[string]string{"EXPLAIN a b": " a b", "\n\texplain  a": "  a", "EXPLAIN\na b": "\na b", "explain": "", "explained a": "", "a EXPLAIN": "", "": ""} {
		if got, ok := explained(src); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %t", src, got, ok)
		}
	}
}

// TestAggregates: what is not set does not count, integers add up exactly, and the smallest and largest are those of the order.
func TestAggregates(t *testing.T) {
	for _, c := range []struct {
		name     string
		distinct bool
		values   []any
		want     any
	}{
		{"COUNT", false, []any{nil, int64(1), "a", []any{"b", nil, "c"}}, int64(4)},
		{"COUNT", true, []any{"a", "a", []any{"a", "b"}, int64(1), "1"}, int64(4)},
		{"SUM", false, []any{int64(math.MaxInt64), int64(-1), int64(1)}, int64(math.MaxInt64)},
		{"SUM", false, []any{int64(math.MaxInt64), int64(1)}, 0x1p63},
		{"SUM", false, []any{int64(math.MinInt64), int64(-1)}, -0x1p63},
		{"SUM", false, []any{int64(1), 0.5}, 1.5},
		{"SUM", false, []any{nil}, nil},
		{"AVG", false, []any{int64(1), nil, int64(2)}, 1.5},
		{"AVG", true, []any{int64(1), int64(1), int64(2)}, 1.5},
		{"MIN", false, []any{nil, int64(3), int64(-2), int64(5)}, int64(-2)},
		{"MAX", false, []any{nil, int64(3), int64(-2), int64(5)}, int64(5)},
		{"MIN", false, []any{day.Add(1e9), day}, day},
		{"MAX", false, nil, nil},
		{"COUNT", false, nil, int64(0)},
	} {
		f := aggregate{column: query.Column{Aggregate: c.name, Distinct: c.distinct, Field: &query.Field{}}}
		for _, v := range c.values {
			f.add(v)
		}
		if got := f.result(); got != c.want {
			t.Errorf("%s of %v: %v (%T), want %v", c.name, c.values, got, got, c.want)
		}
	}
}

// TestFewOfMany: a few hundred rows of a condition are sorted by id, rather than found among all documents by id; and a condition on a
// facet is answered by the rows of its types, however many types have it.
func TestFewOfMany(t *testing.T) {
	w := deck(t, nil)
	costs := everyCosts[0]
	costs.Few = 10
	SetCosts(w.Repo, costs)
	view(t, w.Repo, func(tx *storage.Tx) error {
		for query, found := range map[string]string{
			"SELECT * FROM Document WHERE dc:title LIKE 't%' ORDER BY ecm:uuid":                                          "matches: collected by dc:title;",
			"SELECT * FROM Document WHERE ecm:mixinType = 'Folderish'":                                                   "access: OR 0: ",
			"SELECT * FROM Document WHERE ecm:mixinType = 'Folderish' AND ecm:isTrashed = 0 ORDER BY ecm:uuid":           "matches: collected by OR 0: ",
			"SELECT * FROM Document WHERE ecm:mixinType = 'Folderish' AND dc:description LIKE '%x%' ORDER BY dc:created": "access: OR 0: ",
		} {
			plan, err := Explain(tx, query, Options{PageOptions: storage.PageOptions{CountLimit: 100}})
			if err != nil {
				return err
			}
			if !strings.Contains(plan, found) {
				t.Errorf("%s has the plan\n%s", query, plan)
			}
		}
		return nil
	})
}

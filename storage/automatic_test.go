package storage_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/search"
)

// approved is a query that single indexes do not answer well.
const approved = "SELECT * FROM Item WHERE item:status = 'approved' AND item:priority >= 8 ORDER BY item:rank DESC"

// items makes items of a hundred ranks.
func (w *world) items(n int) {
	w.many(n, func(i int) (string, string, string, storage.Props) {
		return "/default-domain/workspaces", fmt.Sprint("d", i), "Item", storage.Props{
			"item:status": []string{"open", "Approved", "approved"}[i%3], "item:priority": int64(i / 3 % 10), "item:rank": int64(i * 7919 % 3000),
		}
	})
}

// asked asks a query so often that pages of ten are wanted.
func asked(t *testing.T, r *storage.Repo, src string, times int) {
	t.Helper()
	for range times {
		err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
			_, err := search.Query(tx, src, search.Options{PageOptions: storage.PageOptions{Limit: 10, CountLimit: -1}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// swept does what the server does every few minutes, and returns the automatic indexes.
func swept(t *testing.T, r *storage.Repo) []storage.Automatic {
	t.Helper()
	if err := search.SweepIndexes(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := r.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	return must(r.AutomaticIndexes(t.Context()))(t)
}

// rowsRead is what the plan says was read, with a document counted as ten rows.
func rowsRead(t *testing.T, plan string) int {
	t.Helper()
	m := regexp.MustCompile(`read: (\d+) rows, (\d+) documents`).FindStringSubmatch(plan)
	if m == nil {
		t.Fatalf("no rows: %s", plan)
	}
	rows, _ := strconv.Atoi(m[1])
	docs, _ := strconv.Atoi(m[2])
	return rows + 10*docs
}

// noIndexProblems compares all index rows with the documents.
func noIndexProblems(t *testing.T, r *storage.Repo) {
	t.Helper()
	err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
		problems, err := tx.IndexProblems()
		if len(problems) > 0 {
			t.Errorf("%d problems: %q", len(problems), problems[:min(3, len(problems))])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDropIndex drops an automatic index: its rows are removed, and it is made again only if queries ask for it as often again.
func TestDropIndex(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.items(3000)
	asked(t, w.Repo, approved, 60)
	all := swept(t, w.Repo)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	drop := func(as *storage.Principal, id string) error {
		return w.Update(t.Context(), as, func(tx *storage.Tx) error { return search.DropIndex(tx, id) })
	}
	if err := drop(&storage.Principal{Name: "bob"}, all[0].ID); !fault.Is(err, fault.Denied) {
		t.Errorf("bob: %v", err)
	}
	if err := drop(w.System(), all[0].ID); err != nil {
		t.Fatal(err)
	}
	if plan, _ := planAndNames(t, w.Repo, approved); strings.Contains(plan, "(automatic)") {
		t.Errorf("a dropped index is used: %s", plan)
	}
	if err := drop(w.System(), all[0].ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("dropped again: %v", err)
	}
	if left := swept(t, w.Repo); len(left) > 0 {
		t.Errorf("after a sweep: %+v", left)
	}
	noIndexProblems(t, w.Repo)
	asked(t, w.Repo, approved, 60)
	if again := swept(t, w.Repo); len(again) != 1 || again[0].State != storage.IndexComplete {
		t.Errorf("asked again: %+v", again)
	}
}

// TestAutomaticIndex asks an ordinary query so often that the server declares the index for it. The query becomes as cheap as
// with a declared one, and stays so after a restart, until the index is declared or nobody asks any more.
func TestAutomaticIndex(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.items(3000)
	plan, before := planAndNames(t, w.Repo, approved)
	dear := rowsRead(t, plan)
	asked(t, w.Repo, approved, 17) // besides the two for the plan
	if all := swept(t, w.Repo); len(all) > 0 {
		t.Fatalf("asked 19 times: %v", all)
	}
	asked(t, w.Repo, approved, 40)
	all := swept(t, w.Repo)
	if len(all) != 1 || all[0].State != storage.IndexComplete || all[0].Type != "Item" || all[0].String() != "{columns: [item:status, item:rank desc], include: [item:priority]}" {
		t.Fatalf("asked %d rows again and again: %+v", dear, all)
	}
	plan, after := planAndNames(t, w.Repo, approved)
	cheap := rowsRead(t, plan)
	if !strings.Contains(plan, "access: item:status, item:rank desc; item:priority of type Item (automatic),") || strings.Contains(plan, "advice") || !slices.Equal(before, after) {
		t.Errorf("%v, before %v\n%s", after, before, plan)
	}
	noIndexProblems(t, w.Repo)

	restarted := w.reopen(t, itemTypes)
	if plan, after = planAndNames(t, restarted, approved); rowsRead(t, plan) != cheap || !slices.Equal(before, after) {
		t.Errorf("after a restart: %v\n%s", after, plan)
	}

	declared := w.reopen(t, strings.Replace(itemTypes, "schemas: [item]}", "schemas: [item], indexes: ["+all[0].String()+"]}", 1))
	if left := swept(t, declared); len(left) > 0 {
		t.Errorf("beside a declared index: %+v", left)
	}
	if plan, after = planAndNames(t, declared, approved); rowsRead(t, plan) != cheap || dear < 10*cheap || !slices.Equal(before, after) || strings.Contains(plan, "(automatic)") {
		t.Errorf("declared, %d rows at first, %d with the automatic index: %v\n%s", dear, cheap, after, plan)
	}
	noIndexProblems(t, declared)
}

// TestSlowQueryWithAutomaticIndex: what is slow names the state of the index that the server made for it.
func TestSlowQueryWithAutomaticIndex(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes), func(c *storage.Config) { c.Limits.QueryRows = 20 })
	w.items(90)
	search.SetRule(w.Repo, search.Rule{Asked: 2, Spent: 1})
	const src = "SELECT * FROM Item WHERE item:note = 'n'"
	refused := func() (err error) {
		return w.View(t.Context(), w.System(), func(tx *storage.Tx) error {
			_, err := search.Query(tx, src, search.Options{})
			return err
		})
	}
	for range 3 {
		wantKind(t, refused(), fault.Limit, "item:note")
	}
	if all := search.Slowest(w.Repo); len(all) != 1 || all[0].Automatic != "" {
		t.Errorf("before: %+v", all)
	}
	swept(t, w.Repo)
	all := search.Slowest(w.Repo)
	if len(all) != 1 || all[0].Automatic != storage.IndexComplete || all[0].Advice != "declare on type Item: indexes: [[item:note]]" {
		t.Errorf("after: %+v", all)
	}
	if n := search.AutomaticIndexes(w.Repo); n[storage.IndexComplete] != 1 || n[storage.IndexBuilding] != 0 {
		t.Errorf("%v", n)
	}
	if err := refused(); err != nil {
		t.Errorf("with the index: %v", err)
	}
}

// TestAutomaticIndexEnds: an index that is not used for a week is dropped, with its rows, and so is each when they are switched off.
func TestAutomaticIndexEnds(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.items(1000)
	search.SetRule(w.Repo, search.Rule{Asked: 3, Spent: 1})
	day := func() { w.now = w.now.Add(24*time.Hour + time.Minute) }
	const other = "SELECT * FROM Item WHERE item:priority = 3 AND item:note IS NULL ORDER BY dc:title"
	asked(t, w.Repo, approved, 5)
	asked(t, w.Repo, other, 5)
	if all := swept(t, w.Repo); len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	for range 8 { // one of the two is used
		day()
		asked(t, w.Repo, approved, 1)
		swept(t, w.Repo)
	}
	all := swept(t, w.Repo)
	if len(all) != 1 || !strings.Contains(all[0].String(), "item:status") || w.now.Sub(all[0].Used) > 48*time.Hour {
		t.Errorf("after a week: %+v", all)
	}
	noIndexProblems(t, w.Repo)
	c := w.again()
	withTypes(t, itemTypes)(&c)
	c.Limits.Automatic = -1
	off := must(storage.Open(t.Context(), c, adminPassword))(t)
	search.SetRule(off, search.Rule{Asked: 3, Spent: 1})
	asked(t, off, approved, 5)
	if all := swept(t, off); len(all) > 0 {
		t.Errorf("switched off: %+v", all)
	}
	noIndexProblems(t, off)
}

// TestAutomaticIndexesAreBounded asks for more indexes than there may be.
func TestAutomaticIndexesAreBounded(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.items(300)
	in := w.Internal(row.Ordered{})
	declare := func(typ string, columns ...string) bool {
		return must(in.DeclareIndex(t.Context(), storage.Automatic{Type: typ, Columns: columns}))(t)
	}
	made := 0
	for _, typ := range []string{"Item", "Document", "File", "Note"} {
		ofType := 0
		for _, column := range []string{"dc:source", "dc:coverage", "dc:publisher", "dc:format", "dc:language"} {
			if declare(typ, "dc:title", column+" desc") {
				made++
				ofType++
			}
			if declare(typ, "dc:title", column+" desc") {
				t.Errorf("%s of %s is declared twice", column, typ)
			}
		}
		if ofType > 3 {
			t.Errorf("%d of type %s", ofType, typ)
		}
	}
	all := swept(t, w.Repo)
	if made != 8 || len(all) != 8 {
		t.Errorf("%d made, %d there", made, len(all))
	}
	for _, bad := range []storage.Automatic{{Type: "Nothing", Columns: []string{"dc:title"}}, {Type: "Item", Columns: []string{"item:none"}}, {Type: "Item"}} {
		if made, err := in.DeclareIndex(t.Context(), bad); err == nil || made {
			t.Errorf("%+v: %t, %v", bad, made, err)
		}
	}
	noIndexProblems(t, w.Repo)
	c := w.again()
	withTypes(t, itemTypes)(&c)
	c.Limits.Automatic = 2
	if all := swept(t, must(storage.Open(t.Context(), c, adminPassword))(t)); len(all) != 2 {
		t.Errorf("with a limit of 2: %+v", all)
	}
}

// TestAutomaticIndexPays: an index whose rows cost more to write than it saves is not made.
func TestAutomaticIndexPays(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.items(600)
	search.SetRule(w.Repo, search.Rule{Asked: 3, Spent: 1})
	asked(t, w.Repo, approved, 3)
	for range 10 {
		w.many(300, func(i int) (string, string, string, storage.Props) {
			return "/default-domain/workspaces", fmt.Sprint("n", i, "-", w.now.Unix()), "Item", nil
		})
	}
	if all := swept(t, w.Repo); len(all) > 0 {
		t.Errorf("while 3000 documents were written: %+v", all)
	}
	w.now = w.now.Add(3 * time.Hour) // a new hour, in which nobody writes
	asked(t, w.Repo, approved, 30)
	if all := swept(t, w.Repo); len(all) != 1 {
		t.Errorf("while nobody writes: %+v", all)
	}
}

// TestAutomaticIndexServesOthers: queries that are costly while an index is built get no indexes of their own if they are cheap with it.
func TestAutomaticIndexServesOthers(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.items(600)
	search.SetRule(w.Repo, search.Rule{Asked: 3, Spent: 1})
	if all := swept(t, w.Repo); len(all) > 0 {
		t.Fatalf("%+v", all)
	}
	const rare = "SELECT * FROM Item WHERE dc:contributors/* = 'nobody'"
	asked(t, w.Repo, rare, 3)
	if err := search.SweepIndexes(t.Context(), w.Repo); err != nil {
		t.Fatal(err)
	}
	asked(t, w.Repo, rare+" ORDER BY dc:title", 3)
	asked(t, w.Repo, approved, 3)
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := swept(t, w.Repo)
	if len(all) != 2 || all[0].String() != "[dc:contributors/*]" || strings.Contains(all[1].String(), "contributors") {
		t.Errorf("%v", all)
	}
	asked(t, w.Repo, rare+" ORDER BY dc:title", 3)
	if all := swept(t, w.Repo); len(all) != 2 {
		t.Errorf("asked again: %v", all)
	}
}

// TestAutomaticIndexOfTwoServers: what one server writes while the other builds an index has its rows, and a server with other
// declarations of the type ends an index that it cannot keep.
func TestAutomaticIndexOfTwoServers(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.items(300)
	second := w.reopen(t, itemTypes)
	add := func(r *storage.Repo, name string) {
		t.Helper()
		if err := r.Update(t.Context(), r.System(), func(tx *storage.Tx) error {
			return mk(tx, "/default-domain/workspaces/"+name, "Item", storage.Props{"item:status": "approved", "item:priority": int64(9), "item:rank": int64(5000)})
		}); err != nil {
			t.Fatal(err)
		}
	}
	begun := make(chan struct{})
	var declared bool
	err := second.Update(t.Context(), second.System(), func(tx *storage.Tx) error {
		err := mk(tx, "/default-domain/workspaces/first", "Item", storage.Props{"item:status": "approved", "item:priority": int64(9), "item:rank": int64(4000)})
		select {
		case <-begun: // it lost the race, and works again
		default:
			close(begun)
			declared = must(w.Internal(row.Ordered{}).DeclareIndex(t.Context(), storage.Automatic{Type: "Item", Columns: []string{"item:status", "item:rank desc"}, Include: []string{"item:priority"}}))(t)
		}
		return err
	})
	if err != nil || !declared {
		t.Fatal(declared, err)
	}
	add(second, "second")
	if all := swept(t, w.Repo); len(all) != 1 || all[0].State != storage.IndexComplete {
		t.Fatalf("%+v", all)
	}
	add(second, "third")
	for _, r := range []*storage.Repo{w.Repo, second} {
		plan, names := planAndNames(t, r, approved)
		if !strings.Contains(plan, "(automatic)") || !slices.Equal(names[:3], []string{"third", "second", "first"}) {
			t.Errorf("%v\n%s", names, plan)
		}
	}
	noIndexProblems(t, second)

	other := w.reopen(t, strings.Replace(itemTypes, "rank: {type: long,", "rank: {type: double,", 1))
	add(other, "fourth")
	if plan, _ := planAndNames(t, w.Repo, approved); strings.Contains(plan, "(automatic)") {
		t.Errorf("an index that lacks a document is used:\n%s", plan)
	}
	if all := swept(t, w.Repo); len(all) > 0 {
		t.Errorf("%+v", all)
	}
}

// TestAutomaticIndexesComeAndGo compares queries with full scans while automatic indexes are declared, built and dropped, and
// others write.
func TestAutomaticIndexesComeAndGo(t *testing.T) {
	l := newLibrary(t, 90, 33, func(c *storage.Config) { c.NewID, c.Limits.Automatic = nil, 16 })
	search.SetCosts(l.Repo, search.Costs{Sorted: 5, Few: 2, Subtree: 3, Known: 20, Loads: 2, Factor: 5})
	stop, done := make(chan struct{}), sync.WaitGroup{}
	end := sync.OnceFunc(func() { close(stop); done.Wait() })
	t.Cleanup(end)
	ids := l.ids
	done.Go(func() { l.rewrite(t, ids, stop, 1) })
	made, dropped := 0, 0
	done.Go(func() {
		r := rand.New(rand.NewPCG(4, 9))
		for {
			select {
			case <-stop:
				return
			default:
			}
			more, gone, err := l.comeAndGo(t, r)
			if err != nil {
				t.Error(err)
				return
			}
			made, dropped = made+more, dropped+gone
		}
	})
	used := 0
	for range 60 {
		l.view(user("ann"), func(tx *storage.Tx) error {
			var err error
			if l.ids, err = tx.EveryID(); err != nil {
				return err
			}
			o := l.oracle(tx)
			for range 5 {
				src := l.query()
				l.compare(tx, src, o.answer(t, src, l.Types(), tx.Now()))
				plan, err := search.Explain(tx, src, search.Options{})
				if err != nil {
					return err
				}
				if strings.Contains(plan, "(automatic)") {
					used++
				}
			}
			return nil
		})
	}
	end()
	swept(t, l.Repo)
	noIndexProblems(t, l.Repo)
	if used < 5 || made < 3 || dropped < 1 {
		t.Errorf("%d indexes made, %d dropped, used by %d queries", made, dropped, used)
	}
}

// comeAndGo drops half of the automatic indexes, declares others, and settles both.
func (l *library) comeAndGo(t *testing.T, r *rand.Rand) (made, dropped int, err error) {
	columns := []string{"dc:title", "dc:source", "dc:coverage", "dc:modified", "dc:expired", "dc:subjects", "ecm:name", "ecm:parentId", "ecm:currentLifeCycleState"}
	all, err := l.AutomaticIndexes(t.Context())
	for _, a := range all {
		if err == nil && r.IntN(2) == 0 {
			err = l.DropAutomatic(t.Context(), a)
			dropped++
		}
	}
	for range 6 {
		a := storage.Automatic{Type: []string{"Document", "File", "Note", "Crate"}[r.IntN(4)]}
		for _, i := range r.Perm(len(columns))[:1+r.IntN(3)] {
			a.Columns = append(a.Columns, columns[i]+[]string{"", " desc"}[r.IntN(2)])
		}
		if r.IntN(2) == 0 {
			a.Include = []string{"dc:description", "dc:expired"}
		}
		if err != nil {
			return made, dropped, err
		}
		one, failed := l.Internal(row.Ordered{}).DeclareIndex(t.Context(), a)
		if err = failed; one {
			made++
		}
	}
	if err == nil {
		err = l.Sweep(t.Context())
	}
	return made, dropped, err
}

// TestAutomaticIndexOfBefore: after a program has written to the store that keeps no automatic indexes, those there are lack
// documents; none is used any more, and they are made anew if they are still wanted.
func TestAutomaticIndexOfBefore(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.items(6000) // more than are completed while the store is opened
	asked(t, w.Repo, approved, 60)
	if all := swept(t, w.Repo); len(all) != 1 || all[0].State != storage.IndexComplete {
		t.Fatalf("%+v", all)
	}
	if err := w.ForgetIndex(t.Context(), "automatic 1"); err != nil {
		t.Fatal(err)
	}
	if plan, _ := planAndNames(t, w.Repo, approved); strings.Contains(plan, "(automatic)") {
		t.Errorf("used by a server that was there before:\n%s", plan)
	}
	r := w.reopen(t, itemTypes)
	if plan, _ := planAndNames(t, r, approved); strings.Contains(plan, "(automatic)") {
		t.Errorf("used as if it were complete:\n%s", plan)
	}
	if all := swept(t, r); len(all) > 0 {
		t.Errorf("kept: %+v", all)
	}
	noIndexProblems(t, r)
	asked(t, r, approved, 60)
	if all := swept(t, r); len(all) != 1 || all[0].State != storage.IndexComplete {
		t.Errorf("not made anew: %+v", all)
	}
	plan, _ := planAndNames(t, r, approved)
	if !strings.Contains(plan, "(automatic)") {
		t.Errorf("not used:\n%s", plan)
	}
	noIndexProblems(t, r)
}

package storage_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/schema"
	"catena/storage/search"
)

// randomIndexes declares indexes over several fields at random.
func randomIndexes(r *rand.Rand) string {
	columns := []string{
		"dc:title", "dc:source", "dc:coverage", "dc:modified", "dc:expired", "dc:subjects", "bench:weight", "bench:box/code",
		"bench:parts/*/serial", "ecm:name", "ecm:parentId", "ecm:primaryType", "ecm:currentLifeCycleState", "ecm:lockOwner",
	}
	index := func() string {
		var names []string
		many := false
		for _, i := range r.Perm(len(columns))[:1+r.IntN(4)] {
			list := columns[i] == "dc:subjects" || strings.Contains(columns[i], "*")
			if list && many {
				continue
			}
			many = many || list
			names = append(names, fmt.Sprintf("%q", columns[i]+[]string{"", " desc"}[r.IntN(2)]))
		}
		x := "columns: [" + strings.Join(names, ", ") + "]"
		if r.IntN(2) == 0 {
			x += ", include: [dc:description, bench:weight, dc:expired, dc:subjects]"
		}
		return "      - {" + x + "}\n"
	}
	var on [2]string
	for range 12 {
		on[r.IntN(2)] += index()
	}
	return crateTypes + "    indexes:\n" + on[0] + "  Document:\n    parent: null\n    indexes:\n" + on[1]
}

// crateIndexes are declared on the schema of crates and on their type.
func crateIndexes(r *rand.Rand) string {
	all := randomIndexes(r)
	head, rest, _ := strings.Cut(all, "    indexes:\n")
	onSchema, onType, _ := strings.Cut(rest, "  Document:\n    parent: null\n    indexes:\n")
	before, types, _ := strings.Cut(head, "types:\n")
	if onSchema != "" {
		before += "    indexes:\n" + onSchema
	}
	types = strings.Replace(types, "Crate: {parent: File, schemas: [bench]}", "Crate:\n    parent: File\n    schemas: [bench]", 1)
	if onType != "" {
		types += "    indexes:\n" + onType
	}
	return before + "types:\n" + types
}

// TestEveryPlanAnswersLikeAFullScan: whatever indexes are declared, every query returns what reading every document
// returns, in order and page by page, while others write.
func TestEveryPlanAnswersLikeAFullScan(t *testing.T) {
	used := 0
	seeds := uint64(2)
	if os.Getenv("CATENA_CORPUS") == "all" {
		seeds = 80
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		yaml := crateIndexes(r)
		l := newLibrary(t, 90, 20+seed, func(c *storage.Config) {
			c.Types = must(schema.Load(schema.Defaults(), fstest.MapFS{"crates.yaml": {Data: []byte(yaml)}}))(t)
		})
		stop, done := make(chan struct{}), sync.WaitGroup{}
		end := sync.OnceFunc(func() { close(stop) })
		ids := l.ids
		done.Go(func() { l.rewrite(t, ids, stop, seed) })
		t.Cleanup(func() { end(); done.Wait() })
		for _, costs := range [][6]int{{2000, 200, 1000, 20_000, 300, 20}, {2000, 0, 0, 20_000, 300, 1000}, {5, 2, 3, 20, 2, 5}, {1, 0, 0, 1000, 3, 1000}} {
			search.SetCosts(l.Repo, search.Costs{Sorted: costs[0], Few: costs[1], Subtree: costs[2], Known: costs[3], Loads: costs[4], Factor: costs[5]})
			l.view(user("ann"), func(tx *storage.Tx) error {
				var err error
				if l.ids, err = tx.EveryID(); err != nil { // versions were made meanwhile
					return err
				}
				o := l.oracle(tx)
				for range 60 {
					src := l.query()
					l.compare(tx, src, o.answer(t, src, l.Types(), tx.Now()))
					if plan, err := search.Explain(tx, src, search.Options{}); err != nil {
						return err
					} else if strings.Contains(plan, " of schema bench") || strings.Contains(plan, " of type Crate") {
						used++
					}
				}
				return nil
			})
		}
		end()
		done.Wait()
		l.view(l.System(), func(tx *storage.Tx) error {
			problems, err := tx.IndexProblems()
			if len(problems) > 0 {
				t.Errorf("%s\n%d problems: %q", yaml, len(problems), problems[:min(5, len(problems))])
			}
			return err
		})
	}
	if used < 8*int(seeds) {
		t.Errorf("indexes over several fields were used %d times", used)
	}
	t.Logf("indexes over several fields were used %d times", used)
}

// lags reports whether more documents wait for the index of full text than a query looks at by itself.
func (l *library) lags(t *testing.T) (lags bool) {
	err := l.View(t.Context(), l.System(), func(tx *storage.Tx) (err error) {
		_, lags, err = tx.Internal(row.Ordered{}).Pending(20)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return lags
}

// rewrite changes documents until it is stopped.
func (l *library) rewrite(t *testing.T, ids []string, stop chan struct{}, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 5))
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
		if l.lags(t) { // the index of full text says so itself when too much waits
			continue
		}
		id := storage.Ref(ids[r.IntN(len(ids))])
		err := l.Update(t.Context(), l.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc(id)
			switch {
			case err == nil && (d.IsFolder() || d.IsImmutable() || d.IsProxy()):
				return nil
			case err == nil:
				err = d.Set("dc:source", fmt.Sprint("w", r.IntN(20)))
			}
			if err == nil {
				_, err = tx.Save(d, storage.SaveOptions{})
			}
			if fault.Is(err, fault.NotFound) {
				err = nil // another writer deleted it
			}
			return err
		})
		if err != nil {
			t.Error(err)
			return
		}
	}
}

// planAndNames explains a query as its administrator sees it and returns the names of its first ten results.
func planAndNames(t *testing.T, r *storage.Repo, src string) (plan string, names []string) {
	t.Helper()
	err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
		o := search.Options{PageOptions: storage.PageOptions{Limit: 10, CountLimit: -1}}
		rows, err := search.Select(tx, "EXPLAIN "+src, o)
		if err != nil {
			return err
		}
		for _, row := range rows.Entries {
			plan += fmt.Sprint(row["plan"], "\n")
		}
		page, err := search.Query(tx, src, o)
		if err != nil {
			return err
		}
		for _, d := range page.Docs {
			names = append(names, d.Name())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan, names
}

// again is how the repository of a world is opened once more.
func (w *world) again() storage.Config {
	return storage.Config{DB: w.db, Blobs: w.blobs, Log: slog.New(slog.DiscardHandler), Clock: func() time.Time { return w.now }}
}

// reopen opens the repository of a world again with other declarations.
func (w *world) reopen(t *testing.T, yaml string) *storage.Repo {
	t.Helper()
	c := w.again()
	withTypes(t, yaml)(&c)
	r, err := storage.Open(t.Context(), c, adminPassword)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAdvice declares what Explain asks for, and finds each query cheap.
func TestAdvice(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.many(3000, func(i int) (string, string, string, storage.Props) {
		folder := "/default-domain/workspaces"
		if i%50 == 0 {
			folder = "/default-domain/templates"
		}
		nature := any("memo")
		if i%100 == 7 {
			nature = nil
		}
		return folder, fmt.Sprint("d", i), "Item", storage.Props{
			"dc:title": fmt.Sprint("t", i*7907%3000), "dc:nature": nature,
			"item:status": []string{"open", "Approved", "approved"}[i%3], "item:priority": int64(i / 3 % 10), "item:rank": int64(i * 7919 % 3000),
		}
	})
	var folder string
	w.view(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/default-domain/templates")
		folder = d.ID()
		return err
	})
	for _, tt := range []struct{ src, index, order string }{
		{"SELECT * FROM Item WHERE item:status = 'approved' AND item:priority >= 8 ORDER BY item:rank DESC", "{columns: [item:status, item:rank desc], include: [item:priority]}", "item:rank DESC, from the index"},
		{"SELECT * FROM Item WHERE ecm:parentId = '" + folder + "' AND ecm:isTrashed = 0 ORDER BY dc:title", "[ecm:parentId, dc:title]", "dc:title, from the index"},
		{"SELECT * FROM Item WHERE dc:nature IS NULL ORDER BY ecm:path", "[dc:nature]", "ecm:path, sorted in memory"},
		{"SELECT * FROM Item WHERE item:status = 'open' AND dc:nature IS NULL ORDER BY ecm:path DESC", "[item:status, dc:nature]", "ecm:path DESC, sorted in memory"},
	} {
		plan, before := planAndNames(t, w.Repo, tt.src)
		if !strings.Contains(plan, "\nadvice: declare on type Item: indexes: ["+tt.index+"]\n") {
			t.Errorf("%s: no advice:\n%s", tt.src, plan)
		}
		r := w.reopen(t, strings.Replace(itemTypes, "schemas: [item]}", "schemas: [item], indexes: ["+tt.index+"]}", 1))
		plan, after := planAndNames(t, r, tt.src)
		if strings.Contains(plan, "advice") || !strings.Contains(plan, "order: "+tt.order+"\n") || !strings.Contains(plan, ", 0 documents besides") || !slices.Equal(before, after) || len(after) != 10 {
			t.Errorf("%s, with the index: %v, before %v\n%s", tt.src, after, before, plan)
		}
	}
}

// TestIndexOfFiles: an index may be over what files say of themselves, and finds their documents.
func TestIndexOfFiles(t *testing.T) {
	w := newWorld(t, withTypes(t, strings.Replace(itemTypes, "schemas: [item]}",
		"schemas: [item], indexes: [[\"file:content/name\"], {columns: [item:rank], include: [\"file:content/length\"]}, [\"files:files/*/file/name\"]]}", 1)))
	w.many(300, func(i int) (string, string, string, storage.Props) {
		file := blob.FromBytes(fmt.Sprint("F", i), "text/plain", []byte(strings.Repeat("x", i%7)))
		other := blob.FromBytes(fmt.Sprint("G", i), "text/plain", []byte("x"))
		return "/default-domain/workspaces", fmt.Sprint("d", i), "Item", storage.Props{"item:rank": int64(i % 20), "file:content": file, "files:files": []any{map[string]any{"file": other}}}
	})
	for _, tt := range []struct{ where, index, names string }{
		{"file:content/name = 'F7'", "file:content/name of type Item (of files)", "d7"},
		{"file:content/name = 'f7'", "file:content/name of type Item (of files)", ""},
		{"file:content/name LIKE 'F29_'", "file:content/name of type Item (of files)", "d290 d291 d292 d293 d294 d295 d296 d297 d298 d299"},
		{"item:rank = 3 AND file:content/length = 3", "item:rank; file:content/length of type Item (of files)", "d143 d283 d3"},
		{"files:files/*/file/name = 'G9'", "files:files/*/file/name of type Item (of files)", "d9"},
	} {
		plan, names := planAndNames(t, w.Repo, "SELECT * FROM Item WHERE "+tt.where)
		slices.Sort(names)
		if !strings.Contains(plan, "access: "+tt.index+",") || strings.Join(names, " ") != tt.names {
			t.Errorf("%s: %v\n%s", tt.where, names, plan)
		}
	}
	noIndexProblems(t, w.Repo)
}

// TestOrderOfOneType: an index of one type gives the order without passing the rows of other types. Where all documents of
// the field have that type, the index of the field alone is as good.
func TestOrderOfOneType(t *testing.T) {
	w := newWorld(t, withTypes(t, strings.Replace(itemTypes, "schemas: [item]}", "schemas: [item], indexes: [[dc:title], [item:rank]]}", 1)))
	w.many(1000, func(i int) (string, string, string, storage.Props) {
		if i%2 == 0 {
			return "/default-domain/workspaces", fmt.Sprint("a", i), "Note", storage.Props{"dc:title": fmt.Sprint("a", i)}
		}
		return "/default-domain/workspaces", fmt.Sprintf("z%03d", i), "Item", storage.Props{"dc:title": fmt.Sprintf("z%03d", i), "item:rank": int64(i), "item:note": "n"}
	})
	for _, tt := range []struct{ src, access, first string }{
		{"SELECT * FROM Item ORDER BY dc:title", "access: dc:title of type Item,", "z001"},
		{"SELECT * FROM Item ORDER BY dc:title DESC", "access: dc:title of type Item,", "z999"},
		{"SELECT * FROM Item WHERE item:note = 'n' ORDER BY dc:title", "access: dc:title of type Item,", "z001"},
		{"SELECT * FROM Item WHERE item:note = 'n' ORDER BY item:rank", "access: item:rank, every item:rank;", "z001"},
		{"SELECT * FROM Document ORDER BY dc:title DESC", "access: dc:title, every dc:title;", "z999"},
	} {
		plan, names := planAndNames(t, w.Repo, tt.src)
		if !strings.Contains(plan, tt.access) || len(names) != 10 || names[0] != tt.first {
			t.Errorf("%s: %v\n%s", tt.src, names, plan)
		}
		if rows := regexp.MustCompile(`read: (\d+) rows`).FindStringSubmatch(plan); rows == nil || len(rows[1]) > 2 {
			t.Errorf("%s: many rows\n%s", tt.src, plan)
		}
	}
}

// TestOrderAmongOthersWithoutValue: documents of other types that have no title come before all others in the order of titles,
// and are not passed one by one.
func TestOrderAmongOthersWithoutValue(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.many(3000, func(i int) (string, string, string, storage.Props) {
		if i%3 > 0 {
			return "/default-domain/workspaces", fmt.Sprint("f", i), "Folder", nil
		}
		return "/default-domain/workspaces", fmt.Sprintf("i%04d", i), "Item", storage.Props{"dc:title": fmt.Sprintf("t%04d", i), "item:priority": int64(i % 2)}
	})
	search.SetCosts(w.Repo, search.Costs{Sorted: 40, Few: 20, Subtree: 10, Known: 200_000, Loads: 30, Factor: 10})
	first := func(src string, most int, want ...string) {
		t.Helper()
		plan, names := planAndNames(t, w.Repo, src)
		if rows := rowsRead(t, plan); rows > most || !slices.Equal(names[:len(want)], want) {
			t.Errorf("%s: %v, %d rows, at most %d wanted\n%s", src, names, rows, most, plan)
		}
	}
	// A document is read for each of 21 titles, and counts as ten rows.
	const src = "SELECT * FROM Item WHERE item:note IS NULL AND item:priority = 0 ORDER BY dc:title"
	first(src, 300, "i0000", "i0006", "i0012")
	first(src+" DESC", 300, "i2994", "i2988", "i2982")
	w.make("/default-domain/workspaces/untitled", "Item", storage.Props{"item:priority": int64(0)})
	first(src, 300, "untitled", "i0000", "i0006")
	w.update(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/default-domain/workspaces/untitled")
		if err == nil {
			err = d.Set("dc:title", "t0001")
		}
		if err == nil {
			_, err = tx.Save(d, storage.SaveOptions{})
		}
		return err
	})
	first(src, 300, "i0000", "untitled", "i0006")
	// Where those of the wanted type are many, the index that has them in order is the better way.
	first("SELECT * FROM Folder WHERE dc:description IS NULL ORDER BY dc:title, ecm:uuid", 30_000)
	noIndexProblems(t, w.Repo)
}

// TestIndexIsBuiltInTheBackground declares an index on a repository that is in use: what ends the building does no harm,
// and the index is used once it is complete.
func TestIndexIsBuiltInTheBackground(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	var ids []string
	w.many(5200, func(i int) (string, string, string, storage.Props) {
		return "/default-domain/workspaces", fmt.Sprint("d", i), "Item", storage.Props{"item:status": fmt.Sprint("s", i%5), "item:rank": int64(i), "item:note": "n"}
	})
	c := storage.Config{DB: w.db, Blobs: w.blobs, Log: slog.New(slog.DiscardHandler)}
	withTypes(t, strings.Replace(itemTypes, "schemas: [item]}", "schemas: [item], indexes: [[status, rank desc]]}", 1))(&c)
	r, err := storage.Open(t.Context(), c, adminPassword)
	if err != nil {
		t.Fatal(err)
	}
	state := func() (plan string) {
		err := r.View(t.Context(), r.System(), func(tx *storage.Tx) (err error) {
			ids, err = tx.EveryID()
			if err == nil {
				plan, err = search.Explain(tx, "SELECT * FROM Item WHERE item:status = 's1' ORDER BY item:rank DESC", search.Options{})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	if plan := state(); strings.Contains(plan, " of type Item") {
		t.Fatalf("an index without rows is used:\n%s", plan)
	}
	l := &library{world: &world{t: t, Repo: r}}
	stop, done := make(chan struct{}), sync.WaitGroup{}
	done.Go(func() { l.rewrite(t, ids, stop, 1) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := r.Sweep(ctx); err == nil {
		t.Error("the building ended too soon for this test")
	}
	if plan := state(); strings.Contains(plan, " of type Item") {
		t.Errorf("half an index is used:\n%s", plan)
	}
	if err := r.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	close(stop)
	done.Wait()
	if plan := state(); !strings.Contains(plan, " of type Item") {
		t.Errorf("the index is not used:\n%s", plan)
	}
	l.view(r.System(), func(tx *storage.Tx) error {
		problems, err := tx.IndexProblems()
		if len(problems) > 0 {
			t.Errorf("%d problems: %q", len(problems), problems[:min(3, len(problems))])
		}
		return err
	})
}

// TestSlowQueriesAreLogged: a refused query is in the log once, by its shape and with the index that it needs, and counted.
func TestSlowQueriesAreLogged(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, withTypes(t, itemTypes), func(c *storage.Config) {
		c.Limits.QueryRows, c.Log = 20, slog.New(slog.NewTextHandler(&log, nil))
	})
	w.many(30, func(i int) (string, string, string, storage.Props) {
		return "/default-domain/workspaces", fmt.Sprint("d", i), "Item", storage.Props{"item:note": fmt.Sprint("n", i)}
	})
	w.view(w.System(), func(tx *storage.Tx) error {
		for _, note := range []string{"none", "neither"} {
			_, err := search.Query(tx, "SELECT * FROM Item WHERE item:note = ?", search.Options{Args: []any{note}})
			wantKind(t, err, fault.Limit, "item:note")
		}
		return nil
	})
	const want = `query="FROM Item WHERE item:note ="`
	const advice = `advice="declare on type Item: indexes: [[item:note]]"`
	if got := log.String(); strings.Count(got, want) != 1 || !strings.Contains(got, advice) {
		t.Errorf("the log:\n%s\nwant once %s and %s", got, want, advice)
	}
	if all := search.Slowest(w.Repo); len(all) != 1 || all[0].Shape != "FROM Item WHERE item:note =" || all[0].Count != 2 || all[0].Refused != 2 || all[0].Rows <= 20 || !strings.Contains(advice, all[0].Advice) {
		t.Errorf("got %+v", all)
	}
}

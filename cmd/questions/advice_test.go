package questions

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/search"
)

// advised are the indexes that Explain asks for, by the type that is to declare them.
type advised map[string][]string

func (a advised) count() (n int) {
	for _, indexes := range a {
		n += len(indexes)
	}
	return n
}

func (a advised) add(more advised) {
	for typ, indexes := range more {
		a[typ] = append(a[typ], indexes...)
	}
}

// collect asks Explain about all questions.
func (w *world) collect(tb testing.TB) advised {
	tb.Helper()
	all := advised{}
	for i := range questions {
		q := &questions[i]
		_, text, ok := strings.Cut(w.explain(tb, q, q.args(w, 0)), "\nadvice: declare on type ")
		if !ok {
			continue
		}
		typ, index, ok := strings.Cut(text, ": indexes: [")
		if !ok || !strings.HasSuffix(index, "]") {
			tb.Fatalf("%s: %q is not a declaration", q.name, text)
		}
		if index = strings.TrimSuffix(index, "]"); !slices.Contains(all[typ], index) {
			all[typ] = append(all[typ], index)
		}
	}
	return all
}

// declare returns the types with further indexes.
func (a advised) declare(tb testing.TB) *schema.Registry {
	tb.Helper()
	return a.declareIn(tb, declared)
}

// declareIn adds the indexes to declarations.
func (a advised) declareIn(tb testing.TB, text string) *schema.Registry {
	tb.Helper()
	for typ, indexes := range a {
		more, short, long := strings.Join(indexes, ", "), "\n  "+typ+": {", "\n  "+typ+":\n"
		switch at, has := strings.Index(text, long), "    indexes: ["; {
		case at >= 0 && strings.Contains(text[at:], has):
			at += strings.Index(text[at:], has) + len(has)
			text = text[:at] + more + ", " + text[at:]
		case at >= 0:
			text = strings.Replace(text, long, long+"    indexes: ["+more+"]\n", 1)
		default:
			text = strings.Replace(text, short, short+"indexes: ["+more+"], ", 1)
		}
	}
	reg, err := schema.Load(schema.Defaults(), fstest.MapFS{"questions.yaml": {Data: []byte(text)}})
	check(tb, err)
	return reg
}

// advise opens the repository again with further indexes. They are built when it is swept, or at once if it
// is small.
func (w *world) advise(tb testing.TB, a advised) {
	tb.Helper()
	w.reopen(tb, a.declare(tb))
}

// reopen opens the repository again with other declarations.
func (w *world) reopen(tb testing.TB, types *schema.Registry) {
	tb.Helper()
	c := w.config
	c.Types = types
	repo, err := storage.Open(context.Background(), c, "")
	check(tb, err)
	w.t.Cleanup(func() { check(w.t, repo.Close()) })
	w.repo = repo
}

// TestAdvice follows the advice about all questions: each then reads little more than its page, and finds the same.
func TestAdvice(t *testing.T) {
	w := newWorld(t, 4000)
	// Even so few documents are to be found the way that a million are.
	costs := search.Costs{Sorted: 40, Few: 20, Subtree: 10, Known: 200_000, Loads: 30, Factor: 10}
	search.SetCosts(w.repo, costs)
	before := w.answers()
	a := w.collect(t)
	if got := slices.Sorted(maps.Keys(a)); !slices.Equal(got, []string{"Invoice", "Photo", "WikiPage"}) { // the indexes of their fields answer the questions about contracts
		t.Errorf("advice about %q: %v", got, a)
	}
	for range 3 { // an index may make another plan the better one, which then asks for more
		w.advise(t, a)
		check(t, w.repo.Sweep(t.Context()))
		search.SetCosts(w.repo, costs)
		more := w.collect(t)
		if len(more) == 0 {
			break
		}
		a.add(more)
	}
	if left := w.collect(t); len(left) > 0 {
		t.Errorf("with %v, there is advice again: %v", a, left)
	}
	w.same(before)
}

// answers are those to all questions, of the administrator and of some users.
func (w *world) answers() (all []result) {
	for i := range questions {
		for _, user := range []int{-1, 1, 23, 499} {
			r, err := w.ask(&questions[i], questions[i].args(w, user), w.asker(user))
			check(w.t, err)
			all = append(all, r)
		}
	}
	return all
}

// same compares the answers with those before.
func (w *world) same(before []result) {
	w.t.Helper()
	for i, after := range w.answers() {
		if was := before[i]; !slices.Equal(after.ids, was.ids) || after.total != was.total || after.more != was.more {
			w.t.Errorf("%s: %d documents, total %d, more %t; before %d, %d, %t", questions[i/4].name, len(after.ids), after.total, after.more, len(was.ids), was.total, was.more)
		}
	}
}

// TestAutomatic asks the questions of a small repository again and again: the server makes by itself what Explain advises, which
// is little where documents are few, and the questions read less for the same answers.
func TestAutomatic(t *testing.T) {
	w := newWorld(t, 1000)
	search.SetCosts(w.repo, search.Costs{Sorted: 40, Few: 20, Subtree: 10, Known: 200_000, Loads: 30, Factor: 10})
	search.SetRule(w.repo, search.Rule{Asked: 20, Spent: 5000})
	before, wanted := w.answers(), w.collect(t)
	rows := func() (n int) {
		for i := range questions {
			var read, docs int
			_, text, _ := strings.Cut(w.explain(t, &questions[i], questions[i].args(w, 0)), "\nread: ")
			_, err := fmt.Sscanf(text, "%d rows, %d documents", &read, &docs)
			check(t, err)
			n += read + 10*docs
		}
		return n
	}
	dear := rows()
	for i := range questions {
		for range 25 {
			_, err := w.ask(&questions[i], questions[i].args(w, 0), w.asker(-1))
			check(t, err)
		}
	}
	check(t, search.SweepIndexes(t.Context(), w.repo))
	check(t, w.repo.Sweep(t.Context()))
	all, err := w.repo.AutomaticIndexes(t.Context())
	check(t, err)
	for _, a := range all {
		if a.State != storage.IndexComplete {
			t.Errorf("%s is %s", &a, a.State)
		}
	}
	cheap := rows()
	if len(all) == 0 || len(all) != wanted.count() || cheap >= dear {
		t.Errorf("%v made, %v wanted; %d rows for all questions, %d before", all, wanted, cheap, dear)
	}
	if left := w.collect(t); len(left) > 0 {
		t.Errorf("still wanted: %v", left)
	}
	w.same(before)
}

// building reports the 99th percentile of what others wait for while the advised indexes are built, beside that before: at
// most 400 times a second somebody asks a question, gets a document or changes one. One index of each type is built first, as if there
// were one of all documents, then the others.
func (w *world) building(b *testing.B) {
	a := w.collect(b)
	if w.n < 10_000 { // they are built before somebody can wait for them
		w.advise(b, a)
		check(b, w.repo.Sweep(b.Context()))
		return
	}
	defer w.size(b, "with the advised indexes")
	one, ids := advised{}, w.some(b, 1000)
	for typ, indexes := range a {
		one[typ] = indexes[:1]
	}
	w.beside(b, "one_index_of_each_type_is_built", ids, one)
	w.beside(b, "the_other_indexes_are_built", ids, a)
}

// beside reports what others wait for while indexes are built, beside that before.
func (w *world) beside(b *testing.B, what string, ids []string, a advised) {
	b.Run(fmt.Sprintf("while_%s/%d", what, w.n), func(b *testing.B) {
		w.visitors(b, ids, func() { time.Sleep(10 * time.Second) }) // what is read for the first time is read from the disk
		quiet := w.visitors(b, ids, func() { time.Sleep(20 * time.Second) })
		w.advise(b, a)
		begun := time.Now()
		busy := w.visitors(b, ids, func() { check(b, w.repo.Sweep(b.Context())) })
		b.Logf("%d documents in %s", w.n, time.Since(begun).Round(time.Millisecond))
		for i, name := range []string{"get", "question", "change"} {
			before, during := slowest(quiet[i]), slowest(busy[i])
			b.ReportMetric(before, name+"-p99-µs-before")
			b.ReportMetric(during, name+"-p99-µs")
			b.ReportMetric(during/before, name+"-ratio")
		}
		b.ReportMetric(0, "ns/op")
	})
}

// some returns the ids of some invoices.
func (w *world) some(b *testing.B, n int) (ids []string) {
	check(b, w.repo.View(context.Background(), w.repo.System(), func(tx *storage.Tx) error {
		p, err := search.Query(tx, "SELECT * FROM Invoice", search.Options{PageOptions: storage.PageOptions{Limit: n, CountLimit: -1}})
		if err != nil {
			return err
		}
		for _, d := range p.Docs {
			ids = append(ids, d.ID())
		}
		return nil
	}))
	return ids
}

// visitors work while something happens, and returns how long each get, question and change took.
func (w *world) visitors(b *testing.B, ids []string, during func()) (times [3][]time.Duration) {
	var done atomic.Bool
	var mu sync.Mutex
	var wg sync.WaitGroup
	for kind := range times {
		for visitor := range 2 {
			wg.Go(func() {
				for i := visitor; !done.Load(); i += 2 {
					start := time.Now()
					err := w.visit(kind, i, ids)
					took := time.Since(start)
					mu.Lock()
					if times[kind] = append(times[kind], took); err != nil {
						b.Error(err)
					}
					mu.Unlock()
					time.Sleep(15 * time.Millisecond)
				}
			})
		}
	}
	during()
	done.Store(true)
	wg.Wait()
	return times
}

func (w *world) visit(kind, i int, ids []string) error {
	id := ids[mix(i, 40)%len(ids)]
	switch kind {
	case 0:
		return w.repo.View(context.Background(), w.repo.System(), func(tx *storage.Tx) error {
			_, err := tx.Doc(storage.Ref(id))
			return err
		})
	case 1:
		q := &questions[i%len(questions)]
		_, err := w.ask(q, q.args(w, i), w.asker(i%users))
		return err
	}
	return w.repo.Update(context.Background(), w.repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(id))
		if err != nil {
			return err
		}
		if err := d.Set("invoice:rank", int64(mix(i, 41)%1e9)); err != nil {
			return err
		}
		_, err = tx.Save(d, storage.SaveOptions{})
		return err
	})
}

// slowest returns the 99th percentile in microseconds.
func slowest(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)*99/100].Nanoseconds()) / 1000
}

// single are the declarations without any index over several fields.
var single = regexp.MustCompile(`(?m)^    indexes: .*\n`).ReplaceAllString(declared, "")

// learn leaves the indexes of single properties only, and asks until the server has made by itself what it finds useful.
func (w *world) learn(b *testing.B) {
	b.Run(fmt.Sprintf("learning/%d", w.n), func(b *testing.B) {
		w.reopen(b, advised{}.declareIn(b, single))
		check(b, w.repo.Sweep(b.Context()))
		begun := time.Now()
		for range 3 { // an index may make another plan the better one, which then asks for more
			before, err := w.repo.AutomaticIndexes(b.Context())
			check(b, err)
			for i := range questions {
				for j := range 20 {
					_, err := w.ask(&questions[i], questions[i].args(w, j), w.asker(-1))
					if err != nil && !fault.Is(err, fault.Limit) {
						b.Fatal(err)
					}
				}
			}
			check(b, search.SweepIndexes(b.Context(), w.repo))
			check(b, w.repo.Sweep(b.Context()))
			after, err := w.repo.AutomaticIndexes(b.Context())
			check(b, err)
			if len(after) == len(before) {
				break
			}
		}
		all, err := w.repo.AutomaticIndexes(b.Context())
		check(b, err)
		for i := range all {
			b.Logf("%s of %s is %s", &all[i], all[i].Type, all[i].State)
		}
		b.Logf("%d documents: %d indexes in %s", w.n, len(all), time.Since(begun).Round(time.Millisecond))
		b.ReportMetric(0, "ns/op")
	})
	w.size(b, "with automatic indexes")
}

// plain returns the median of getting or creating one document, in microseconds.
func (w *world) plain(b *testing.B, kind string) float64 {
	ids := w.some(b, 1000)
	return medians(300, 1, func(_, i int) time.Duration {
		start := time.Now()
		switch id := ids[mix(i, 40)%len(ids)]; kind {
		case "get":
			check(b, w.visit(0, i, ids))
			return time.Since(start)
		case "get over HTTP":
			w.request(http.MethodGet, "/api/v1/id/"+id, "")
			return time.Since(start)
		case "create over HTTP":
			w.request(http.MethodPost, "/api/v1/path"+areas[invoices].top(), fmt.Sprintf(`{"entity-type":"document","type":"File","name":"sent %d","properties":{"dc:title":"Sent %[1]d"}}`, i))
			return time.Since(start)
		}
		w.update(func(tx *storage.Tx) error {
			folder, err := tx.Doc(storage.Ref(areas[invoices].top()))
			if err != nil {
				return err
			}
			_, err = tx.Create(folder, "File", fmt.Sprint("plain ", i), storage.Props{"dc:title": fmt.Sprint("Plain ", i)})
			return err
		})
		return time.Since(start)
	})[0]
}

// request makes a request as the administrator.
func (w *world) request(method, path, body string) {
	if a := w.server.Do(method, path, body); a.StatusCode >= http.StatusBadRequest {
		w.t.Fatalf("%s %s: %s %s", method, path, a.Status, a.Text)
	}
}

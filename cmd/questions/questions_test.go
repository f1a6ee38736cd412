package questions

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"catena/cmd/catena/host"
)

// question is a query of catena beside the same one of SQLite. Both take the same arguments and return the same documents,
// of which they read the same values.
type question struct {
	name           string
	area           int
	query          string
	where          string // of SQLite, as the next two
	columns, order string
	shown          [2]string // properties, as columns are
	args           func(w *world, i int) []any
	total          bool // is asked for too
	limit, offset  int
}

// size is how many results are wanted.
func (q *question) size() int { return cmp.Or(q.limit, 50) }

// Arguments of questions.
func none(*world, int) []any { return nil }

func pick(from []string, suffix string) func(*world, int) []any {
	return func(_ *world, i int) []any { return []any{from[mix(i, 20)%len(from)] + suffix} }
}

// live are the conditions that clients add to every list.
const (
	live    = " AND ecm:isTrashed = 0 AND ecm:isVersion = 0 AND ecm:isProxy = 0"
	liveSQL = " AND trashed = 0 AND version = 0 AND proxy = 0"
)

const (
	invoices = iota
	photos
	contracts
	pages
)

var (
	invoiceShown  = [2]string{"dc:title", "invoice:amount"}
	photoShown    = [2]string{"dc:title", "photo:taken"}
	contractShown = [2]string{"dc:title", "contract:value"}
	wikiShown     = [2]string{"dc:title", "wiki:summary"}
)

// questions are the twenty.
var questions = []question{
	{
		name: "invoice by number", area: invoices, shown: invoiceShown, columns: "title, amount", total: true,
		query: "SELECT * FROM Invoice WHERE invoice:number = ?", where: "number = ?", order: "id",
		args: func(w *world, i int) []any { return []any{number(mix(i, 20) % (int(w.n) / len(areas)))} },
	},
	{
		name: "invoices of a supplier", area: invoices, shown: invoiceShown, columns: "title, amount", total: true,
		query: "SELECT * FROM Invoice WHERE invoice:supplier = ?" + live + " ORDER BY invoice:due DESC", where: "supplier = ?" + liveSQL, order: "due DESC, id DESC",
		args: func(w *world, i int) []any { return []any{supplier(mix(i, 20) % w.n.leaves())} },
	},
	{
		name: "open invoices by due date", area: invoices, shown: invoiceShown, columns: "title, amount", total: true,
		query: "SELECT * FROM Invoice WHERE invoice:status = 'open' ORDER BY invoice:due", where: "status = 'open'", order: "due, id",
		args: none,
	},
	{
		name: "overdue, largest first", area: invoices, shown: invoiceShown, columns: "title, amount",
		query: "SELECT * FROM Invoice WHERE invoice:status = 'open' AND invoice:due < ? ORDER BY invoice:amount DESC", where: "status = 'open' AND due < ?", order: "amount DESC, id DESC",
		args: func(_ *world, i int) []any { return []any{firstDay.AddDate(0, 0, 700+mix(i, 20)%200)} },
	},
	{
		name: "approved by rank", area: invoices, shown: invoiceShown, columns: "title, amount",
		query: "SELECT * FROM Invoice WHERE invoice:status = 'approved' AND invoice:priority >= ? ORDER BY invoice:rank DESC", where: "status = 'approved' AND priority >= ?", order: "rank DESC, id DESC",
		args: func(_ *world, i int) []any { return []any{int64(3 + mix(i, 20)%3)} },
	},
	{
		name: "amounts in a currency", area: invoices, shown: invoiceShown, columns: "title, amount",
		query: "SELECT * FROM Invoice WHERE invoice:amount BETWEEN ? AND ? AND invoice:currency = 'CHF' ORDER BY invoice:amount", where: "amount BETWEEN ? AND ? AND currency = 'CHF'", order: "amount, id",
		args: func(w *world, i int) []any {
			low := float64(mix(i, 20)%5e5) / 100
			return []any{low, low + 1e4*3*answer/float64(int(w.n)/len(areas))}
		},
	},
	{
		name: "all by rank", area: invoices, shown: invoiceShown, columns: "title, amount",
		query: "SELECT * FROM Invoice ORDER BY invoice:rank DESC", where: "1", order: "rank DESC, id DESC", args: none,
	},
	{
		name: "photos below a folder", area: photos, shown: photoShown, columns: "title, taken",
		query: "SELECT * FROM Photo WHERE ecm:path STARTSWITH ?" + live + " ORDER BY photo:taken DESC", where: "path >= ?1 || '/' AND path < ?1 || '0'" + liveSQL, order: "taken DESC, id DESC",
		args: func(_ *world, i int) []any {
			return []any{fmt.Sprintf("%s/top%d", areas[photos].top(), mix(i, 20)%tops)}
		},
	},
	{
		name: "photos with a tag", area: photos, shown: photoShown, columns: "title, taken", total: true,
		query: "SELECT * FROM Photo WHERE photo:tags = ? ORDER BY photo:taken DESC", where: "id IN (SELECT photo FROM photo_tag WHERE tag = ?)", order: "taken DESC, id DESC",
		args: pick(tags, ""),
	},
	{
		name: "photos with two tags", area: photos, shown: photoShown, columns: "title, taken",
		query: "SELECT * FROM Photo WHERE photo:tags = ? AND photo:tags = 'sunset' ORDER BY photo:taken DESC", order: "taken DESC, id DESC",
		where: "id IN (SELECT photo FROM photo_tag WHERE tag = ?) AND id IN (SELECT photo FROM photo_tag WHERE tag = 'sunset')", args: pick(tags[:8], ""),
	},
	{
		name: "good photos of a country", area: photos, shown: photoShown, columns: "title, taken",
		query: "SELECT * FROM Photo WHERE photo:place/country = ? AND photo:rating >= 4 ORDER BY photo:taken DESC", where: "country = ? AND rating >= 4", order: "taken DESC, id DESC",
		args: pick(countries, ""),
	},
	{
		name: "photos of cameras by title", area: photos, shown: photoShown, columns: "title, taken",
		query: "SELECT * FROM Photo WHERE photo:camera ILIKE ? ORDER BY dc:title", where: "camera LIKE ?", order: "title, id",
		args: pick([]string{"canon", "nikon", "sony"}, "%"),
	},
	{
		name: "second page of a folder", area: photos, shown: photoShown, columns: "title, taken", total: true, limit: 20, offset: 20,
		query: "SELECT * FROM Photo WHERE ecm:parentId = ?" + live + " ORDER BY dc:title", where: "folder = ?" + liveSQL, order: "title, id",
		args: func(w *world, i int) []any { return []any{w.folder(areas[photos].path(mix(i, 20) % w.n.leaves()))} },
	},
	{
		name: "contracts that end soon", area: contracts, shown: contractShown, columns: "title, value", total: true,
		query: "SELECT * FROM Contract WHERE contract:end BETWEEN ? AND ? AND ecm:currentLifeCycleState <> 'deleted'" + live + " ORDER BY contract:end", where: "end BETWEEN ? AND ? AND state <> 'deleted'" + liveSQL, order: "end, id",
		args: func(w *world, i int) []any {
			from := instant(i, 20, 1500)
			return []any{from, from.Add(time.Duration(3000*24*60*answer/(int(w.n)/len(areas))) * time.Minute)}
		},
	},
	{
		name: "contracts of an owner", area: contracts, shown: contractShown, columns: "title, value", total: true,
		query: "SELECT * FROM Contract WHERE contract:owner = ?" + live + " ORDER BY dc:modified DESC", where: "owner = ?" + liveSQL, order: "modified DESC, id DESC",
		args: func(w *world, i int) []any { return []any{owner(mix(i, 20) % w.n.leaves())} },
	},
	{
		name: "contracts without an end", area: contracts, shown: contractShown, columns: "title, value",
		query: "SELECT * FROM Contract WHERE contract:end IS NULL ORDER BY dc:title", where: "end IS NULL", order: "title, id", args: none,
	},
	{
		name: "contracts of a party by value", area: contracts, shown: contractShown, columns: "title, value",
		query: "SELECT * FROM Contract WHERE contract:party LIKE ? ORDER BY contract:value DESC", where: "party GLOB replace(?, '%', '*')", order: "value DESC, id DESC",
		args: pick(parties, "%"),
	},
	{
		name: "latest changes", area: pages, shown: wikiShown, columns: "title, summary", total: true,
		query: "SELECT * FROM WikiPage WHERE ecm:mixinType <> 'HiddenInNavigation'" + live + " ORDER BY dc:modified DESC", where: "1" + liveSQL, order: "modified DESC, id DESC", args: none,
	},
	{
		name: "titles that begin", area: pages, shown: wikiShown, columns: "title, summary",
		query: "SELECT * FROM WikiPage WHERE dc:title ILIKE ? ORDER BY dc:title", where: "title LIKE ?", order: "title, id",
		args: pick(starts, " %"),
	},
	{
		name: "labels below a folder", area: pages, shown: wikiShown, columns: "title, summary",
		query: "SELECT * FROM WikiPage WHERE wiki:labels IN (?, 'ops') AND ecm:path STARTSWITH ? ORDER BY dc:modified DESC", order: "modified DESC, id DESC",
		where: "id IN (SELECT page FROM wiki_label WHERE label IN (?, 'ops')) AND path >= ?2 || '/' AND path < ?2 || '0'",
		args: func(_ *world, i int) []any {
			return []any{labels[mix(i, 20)%3], fmt.Sprintf("%s/top%d", areas[pages].top(), mix(i, 21)%tops)}
		},
	},
}

// TestQuestions compares the answers with those of SQLite.
func TestQuestions(t *testing.T) {
	w := newWorld(t, 2000)
	for i := range questions {
		q := &questions[i]
		found := 0
		for _, user := range []int{-1, 0, 1, 7, 23, 77, 131, 499} {
			for i := range 4 {
				args, as := q.args(w, 4*user+i), w.asker(user)
				got, err := w.ask(q, args, as)
				check(t, err)
				want, err := w.sql.ask(q, args, as.groups)
				check(t, err)
				if !q.total {
					got.total, got.more = 0, false
				}
				if found += len(got.ids); q.order == "id" { // the query leaves the order open
					slices.Sort(got.ids)
				}
				if !slices.Equal(got.ids, want.ids) || got.total != want.total || got.more != want.more {
					t.Errorf("%s, user %d, %v: %d documents, total %d, more %t; want %d, %d, %t", q.name, user, args, len(got.ids), got.total, got.more, len(want.ids), want.total, want.more)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: nothing found by anybody", q.name)
		}
	}
}

// What the benchmark promises.
const (
	growthLimit = 0.10 // exponent of the number of documents
	plainLimit  = 0.05 // the same of getting and creating a document
	ratioLimit  = 2.0  // times what SQLite takes
)

// BenchmarkQuestions asks each question in repositories of CATENA_QUESTIONS documents (1000,10000), as the administrator and
// as the users in turn, on catena and on SQLite in turn, and tells the medians, their ratio, and the exponent by which each
// grows. Then it declares the indexes that Explain advises, tells what others wait for while they are built, and asks again; and
// once more with indexes of single properties alone, beside which the server has made what it found useful while it was asked.
// The table at the end has one line for each question and asker; marks are * for slower than the limits and ! for a query that
// was refused. A small repository has less than a page of what many questions ask for, so that its answers are shorter; the growth
// of full pages leaves such repositories out. With CATENA_EXPLAIN=1 it also prints how catena finds each answer. With CATENA_KEPT=directory what was loaded is
// kept there, and taken from there the next time. With TEST_STORE=postgres the repositories are in PostgreSQL.
//
//	CATENA_QUESTIONS=1000,100000,1000000 go test -run '^$' -bench Questions -benchtime 1x -timeout 3h ./cmd/questions
func BenchmarkQuestions(b *testing.B) {
	host.TuneThreads(false) // as serve does
	var sizes []int
	for s := range strings.SplitSeq(cmp.Or(os.Getenv("CATENA_QUESTIONS"), "1000,10000"), ",") {
		n, err := strconv.Atoi(s)
		check(b, err)
		sizes = append(sizes, n)
	}
	worlds := make([]*world, len(sizes))
	for i, n := range sizes {
		worlds[i] = newWorld(b, sized(n))
		worlds[i].size(b, "loaded")
	}
	m, growth := map[string]*measured{}, map[string][]float64{}
	for _, kind := range []string{"get", "get over HTTP", "create", "create over HTTP"} {
		for _, w := range worlds {
			growth[kind] = append(growth[kind], w.plain(b, kind))
		}
	}
	for arm, prepare := range []func(w *world){func(*world) {}, func(w *world) { w.building(b) }, func(w *world) { w.learn(b) }} {
		for _, w := range worlds {
			prepare(w)
		}
		for i := range questions {
			for _, as := range askers {
				measure(b, m, &questions[i], worlds, as, arm)
			}
		}
	}
	fmt.Println("medians in microseconds\n" + report(b, m, sizes))
	for kind, took := range growth {
		fmt.Printf("%s: %.1f µs, growth %.3f, limit %.2f\n", kind, took, exponent(sizes, took), plainLimit)
	}
}

var askers = []string{"administrator", "users"}

// measured are the medians of one question by arm, in the order of the repositories.
type measured struct {
	of    [4][]float64
	marks [3][]string
	found []float64 // results of an answer
}

// The arms. The first three are catena: as declared, with the indexes that were advised, and with those that the server made.
const (
	asDeclared = iota
	asAdvised
	asLearnt
	ofSQLite
)

// measure adds the medians of one question, and reports them.
func measure(b *testing.B, all map[string]*measured, q *question, worlds []*world, as string, arm int) {
	name := []string{"", "advised/", "learnt/"}[arm] + strings.ReplaceAll(q.name, " ", "_") + "/" + as
	b.Run(name, func(b *testing.B) {
		m := all[q.name+", "+as]
		if m == nil {
			m = &measured{}
			all[q.name+", "+as] = m
		}
		for i, w := range worlds {
			arms := 1
			if arm == asDeclared {
				arms = 2
			}
			took, found, mark := w.time(b, q, as, arms)
			if arm == asDeclared {
				m.found = append(m.found, found)
			}
			m.of[arm] = append(m.of[arm], took[0])
			if arms == 2 {
				m.of[ofSQLite] = append(m.of[ofSQLite], took[1])
			}
			if mark == "" && took[0] > ratioLimit*m.of[ofSQLite][i] {
				mark = "*"
			}
			m.marks[arm] = append(m.marks[arm], mark)
			b.ReportMetric(took[0], fmt.Sprintf("p50-µs/%d", w.n))
			b.ReportMetric(took[0]/m.of[ofSQLite][i], fmt.Sprintf("of-SQLite/%d", w.n))
		}
		b.ReportMetric(0, "ns/op")
	})
}

// time asks a question on catena and, with two arms, on SQLite; found is how many results catena's answers have, and the mark is ! if
// catena refused it.
func (w *world) time(b *testing.B, q *question, as string, arms int) (took []float64, found float64, mark string) {
	var refused error
	asked := 0
	took = medians(60, arms, func(arm, i int) time.Duration {
		user := -1
		if as == "users" {
			user = i % users
		}
		who, args := w.asker(user), q.args(w, i)
		var err error
		start := time.Now()
		if arm == 0 {
			var r result
			r, err = w.ask(q, args, who)
			refused = errors.Join(refused, err)
			found, asked = found+float64(len(r.ids)), asked+1
		} else {
			_, err = w.sql.ask(q, args, who.groups)
			check(b, err)
		}
		return time.Since(start)
	})
	if refused != nil {
		mark = "!"
		b.Errorf("%s, %d documents: %v", q.name, w.n, refused)
	}
	if os.Getenv("CATENA_EXPLAIN") != "" {
		fmt.Fprintf(os.Stderr, "%s, %d documents, %.0f µs:\n%s\n", q.name, w.n, took[0], w.explain(b, q, q.args(w, 0)))
	}
	return took, found / float64(asked), mark
}

// report writes the table.
func report(b *testing.B, all map[string]*measured, sizes []int) string {
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(out, "question\t")
	for _, n := range sizes {
		fmt.Fprintf(out, "%d: found\tdeclared\tadvised\tlearnt\tSQLite\tratios\t\t\t", n)
	}
	fmt.Fprintln(out, "growth: declared\tadvised\tlearnt\tSQLite\tof full pages: declared\tadvised\tlearnt\tSQLite\t")
	for i := range questions {
		for _, as := range askers {
			name := questions[i].name + ", " + as
			m := all[name]
			if m == nil || len(m.of[asLearnt]) == 0 {
				continue // not asked for
			}
			fmt.Fprint(out, name, "\t")
			for i := range sizes {
				fmt.Fprintf(out, "%.1f\t", m.found[i])
				for _, arm := range m.of {
					fmt.Fprintf(out, "%.0f\t", arm[i])
				}
				for arm, marks := range m.marks {
					fmt.Fprintf(out, "%.2f%s\t", m.of[arm][i]/m.of[ofSQLite][i], marks[i])
				}
			}
			for _, full := range []bool{false, true} {
				m.growth(out, sizes, full)
			}
			fmt.Fprintln(out)
		}
	}
	check(b, out.Flush())
	return table.String()
}

// growth writes the exponents of the arms; full leaves out repositories that had fewer results than the others.
func (m *measured) growth(out io.Writer, sizes []int, full bool) {
	for arm, took := range m.of {
		var n []int
		var of []float64
		for i := range sizes {
			if !full || m.found[i] > 0.95*slices.Max(m.found) {
				n, of = append(n, sizes[i]), append(of, took[i])
			}
		}
		growth, mark := exponent(n, of), ""
		switch {
		case len(n) < 2:
			fmt.Fprint(out, "–\t")
			continue
		case arm != ofSQLite && growth > growthLimit:
			mark = "*"
		}
		fmt.Fprintf(out, "%.2f%s\t", growth, mark)
	}
}

// medians runs the arms in turns of ten, n times each and a turn before to warm up, and returns the medians in microseconds. An
// arm that takes long runs less often.
func medians(n, arms int, fn func(arm, i int) time.Duration) []float64 {
	const turn = 10
	times, spent := make([][]time.Duration, arms), make([]time.Duration, arms)
	for i := -turn; i < n; i += turn {
		for arm := range arms {
			for j := range turn {
				if spent[arm] > enough && (i < 0 || len(times[arm]) > 0) {
					break
				}
				took := fn(arm, i+j+turn)
				if spent[arm] += took; i >= 0 {
					times[arm] = append(times[arm], took)
				}
			}
		}
	}
	out := make([]float64, arms)
	for arm, t := range times {
		slices.Sort(t)
		out[arm] = float64(t[len(t)/2].Nanoseconds()) / 1000
	}
	return out
}

// enough is how long an arm of one question is asked.
const enough = time.Second

// exponent is the slope of the logarithms, by least squares.
func exponent(sizes []int, medians []float64) float64 {
	var x, y, xx, xy float64
	for i, n := range sizes {
		lx, ly := math.Log(float64(n)), math.Log(medians[i])
		x, y, xx, xy = x+lx, y+ly, xx+lx*lx, xy+lx*ly
	}
	n := float64(len(sizes))
	return (n*xy - x*y) / (n*xx - x*x)
}

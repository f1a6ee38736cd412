package storage_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"catena/storage"
	"catena/storage/badger"
	"catena/storage/kv"
	"catena/storage/schema"
	"catena/storage/search"
)

// The benchmarks of this file and of folder_bench_test.go hold what a repository of any size promises:
// each reports its figure beside the limit. CATENA_BENCH_SCALE sets the largest size (10,000):
//
//	CATENA_BENCH_SCALE=100000 go test -run '^$' -bench 'Growth|Permissions|Folder|MoveTree' -timeout 60m ./storage

// answer is how many documents have the same value of a property that queries ask for.
const answer = 60

// benchScale is the largest number of documents that is wanted.
func benchScale(b *testing.B) int {
	s := os.Getenv("CATENA_BENCH_SCALE")
	if s == "" {
		return 10_000
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1000 {
		b.Fatalf("CATENA_BENCH_SCALE=%s: not a number from 1,000 on", s)
	}
	return n
}

// crateTypes declare indexed fields inside complex ones.
const crateTypes = `
schemas:
  bench:
    fields:
      box: {type: complex, fields: {code: {type: string, index: true}, note: string}}
      weight: {type: long, index: true}
      parts: {type: "complex[]", fields: {serial: {type: string, index: true}, count: long}}
types:
  Crate: {parent: File, schemas: [bench]}
`

// onDisk opens a repository on the disk, with types of its own, has it filled, and opens it again as a
// server does that starts.
func onDisk(b *testing.B, fill func(w *world)) *world {
	b.Helper()
	dir := b.TempDir()
	open := func(c *storage.Config) {
		store, err := badger.Open(dir, badger.Options{Durability: badger.Relaxed})
		if err != nil {
			b.Fatal(err)
		}
		c.DB, c.NewID = kv.New(store, kv.Options{}), nil
		if c.Types, err = schema.Load(schema.Defaults(), fstest.MapFS{"bench.yaml": {Data: []byte(crateTypes)}}); err != nil {
			b.Fatal(err)
		}
	}
	var config storage.Config
	w := newWorld(b, func(c *storage.Config) {
		open(c)
		config = *c
	})
	w.db, w.dir = config.DB, dir
	fill(w)
	if err := w.db.Close(); err != nil {
		b.Fatal(err)
	}
	open(&config)
	var err error
	if w.Repo, err = storage.Open(b.Context(), config, adminPassword); err != nil {
		b.Fatal(err)
	}
	w.db = config.DB
	w.rows("") // a server that has run for a while has seen its files, and merged what was written
	time.Sleep(15 * time.Second)
	return w
}

// many makes n documents, a thousand in a transaction; at says where the i-th goes.
func (w *world) many(n int, at func(i int) (folder, name, typ string, p storage.Props)) {
	w.t.Helper()
	for from := 0; from < n; from += 1000 {
		w.now = w.now.Add(time.Second)
		w.update(w.System(), func(t *storage.Tx) error {
			var parent *storage.Doc
			last := ""
			for i := from; i < min(n, from+1000); i++ {
				folder, name, typ, p := at(i)
				if folder != last || parent == nil {
					var err error
					if parent, err = t.Doc(storage.Ref(folder)); err != nil {
						return err
					}
					last = folder
				}
				if _, err := t.Create(parent, typ, name, p); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// deep makes folders in each other and returns the path of the lowest.
func (w *world) deep(levels int) string {
	path := "/default-domain/workspaces"
	for i := range levels {
		path += fmt.Sprintf("/level%d", i)
		w.make(path, "Folder", nil)
	}
	return path
}

// grow fills a repository with n documents, answer of which have the same value of each property, in
// folders of answer each far from the root.
func (w *world) grow(n int) {
	top := w.deep(10)
	w.many((n+answer-1)/answer, func(i int) (string, string, string, storage.Props) {
		return top, fmt.Sprintf("f%d", i), "Folder", nil
	})
	w.many(n, func(i int) (string, string, string, storage.Props) {
		g := strconv.Itoa(i / answer)
		other := strconv.Itoa(i % max(1, n/answer))
		return top + "/f" + g, fmt.Sprintf("d%d", i), "Crate", storage.Props{
			"dc:title": "report about alpha" + g, "dc:source": "s" + other, "dc:nature": fmt.Sprint("n", uint32(i)*2654435761>>16%4),
			"dc:subjects": []string{"all", "s" + other, "t" + g},
			"bench:box":   map[string]any{"code": "c" + g, "note": "packed"},
			"bench:parts": []any{map[string]any{"serial": "p" + other, "count": 2}, map[string]any{"serial": "x", "count": 1}},
			"nxtag:tags":  []any{map[string]any{"label": "tag" + g, "username": "bob"}},
		}
	})
	indexText(w.t, w.Repo)
}

// growing are queries whose answer has the same size in every repository. %d is any number below
// that of the groups.
var growing = []struct{ name, src string }{
	{"two predicates", "SELECT * FROM Document WHERE dc:source = 's%d' AND dc:nature = 'n1' AND ecm:isVersion = 0"},
	{"two predicates in order", "SELECT * FROM Document WHERE dc:source = 's%d' AND dc:nature IN ('n1', 'n2') ORDER BY dc:modified DESC"},
	{"two common predicates in order", "SELECT * FROM Document WHERE dc:nature = 'n1' AND dc:subjects = 't%d' ORDER BY dc:title"},
	{"complex property", "SELECT * FROM Document WHERE bench:box/code = 'c%d' ORDER BY dc:title"},
	{"list item", "SELECT * FROM Document WHERE dc:subjects/* = 's%d' ORDER BY dc:title"},
	{"complex list item", "SELECT * FROM Document WHERE bench:parts/*/serial = 'p%d' ORDER BY dc:title"},
	{"items of one part", "SELECT * FROM Document WHERE bench:parts/*1/serial = 'p%d' AND bench:parts/*1/count = 2 ORDER BY dc:title"},
	{"tag", "SELECT * FROM Document WHERE ecm:tag = 'tag%d' ORDER BY dc:title"},
	{"full text", "SELECT * FROM Document WHERE ecm:fulltext = 'alpha%d report' AND ecm:isTrashed = 0"},
	{"below a deep folder", "SELECT * FROM Document WHERE ecm:path STARTSWITH '/default-domain/workspaces/level0/level1/level2/level3/level4/level5/level6/level7/level8/level9/f%d' ORDER BY dc:title"},
	{"below the top of all", "SELECT * FROM Document WHERE ecm:path STARTSWITH '/default-domain/workspaces/level0/level1/level2' AND dc:source = 's%d' ORDER BY dc:title"},
}

// growthLimit is the highest exponent that the growth of a median may have.
const growthLimit = 0.1

// BenchmarkGrowth asks the same questions in repositories of 1,000 documents, ten times as many, and so
// on, by turns. The last line of each tells how the medians of pages of 50 with their total grow: the
// exponent of the number of documents. The first question is the least that most others take: to read as
// many documents whose ids are known, from all over the repository.
func BenchmarkGrowth(b *testing.B) {
	var sizes []int
	var worlds []*world
	for n := 1000; n <= benchScale(b); n *= 10 {
		sizes, worlds = append(sizes, n), append(worlds, onDisk(b, func(w *world) { w.grow(n) }))
	}
	bob := user("bob")
	i := 0 // never again the same one: what a question has read does not help the next
	tell := func(name string, fn func(i, at int)) {
		for _, w := range worlds {
			w.inCache()
		}
		medians := medians(100, len(sizes), func(at int) {
			i++
			fn(i, at)
		})
		for at, n := range sizes {
			report(b, fmt.Sprintf("%s/docs=%d", name, n), map[string]float64{"p50-µs": medians[at]})
		}
		report(b, name+"/growth", map[string]float64{"exponent": exponent(sizes, medians), "limit": growthLimit})
	}
	ids := make([][][]storage.Ref, len(sizes))
	for at, w := range worlds {
		ids[at] = w.sources(bob, sizes[at]/answer)
	}
	tell("documents by id", func(i, at int) {
		worlds[at].view(bob, func(t *storage.Tx) error {
			for _, id := range ids[at][i%len(ids[at])] {
				if _, err := t.Doc(id); err != nil {
					return err
				}
			}
			return nil
		})
	})
	for _, q := range growing {
		tell(q.name, func(i, at int) {
			src := fmt.Sprintf(q.src, i*7919%(sizes[at]/answer))
			worlds[at].view(bob, func(t *storage.Tx) error {
				p, err := search.Query(t, src, search.Options{PageOptions: storage.PageOptions{Limit: 50}})
				if err == nil && len(p.Docs) == 0 {
					b.Fatalf("%s: nothing found", src)
				}
				return err
			})
		})
	}
}

// inCache has the system's cache hold the files of the store: what is measured is the store, and a system may have given
// some of its cache back while nothing was read.
func (w *world) inCache() {
	w.t.Helper()
	if err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		var f *os.File
		if err == nil {
			f, err = os.Open(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // merged meanwhile
		}
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(io.Discard, f)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
}

// sources are the ids of the documents of some of the sources there are, which are from all over the repository.
func (w *world) sources(as *storage.Principal, groups int) (ids [][]storage.Ref) {
	w.view(as, func(t *storage.Tx) error {
		for i := range min(groups, 200) {
			p, err := search.Query(t, fmt.Sprintf("SELECT * FROM Document WHERE dc:source = 's%d'", i*7919%groups), search.Options{})
			if err != nil {
				return err
			}
			var group []storage.Ref
			for _, d := range p.Docs {
				group = append(group, storage.Ref(d.ID()))
			}
			ids = append(ids, group)
		}
		return nil
	})
	return ids
}

// report writes a line of figures.
func report(b *testing.B, name string, m map[string]float64) {
	b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
		b.ReportMetric(0, "ns/op")
		for unit, v := range m {
			b.ReportMetric(v, unit)
		}
	})
}

// medians are those of n calls of each of several works in microseconds, a few of each by turns so that
// whatever else goes on is the same for all, after some to warm up.
func medians(n, works int, fn func(work int)) []float64 {
	const turn = 10
	times := make([][]time.Duration, works)
	for i := -turn; i < n; i += turn {
		for work := range works {
			for range turn {
				start := time.Now()
				if fn(work); i >= 0 {
					times[work] = append(times[work], time.Since(start))
				}
			}
		}
	}
	out := make([]float64, works)
	for work, t := range times {
		slices.Sort(t)
		out[work] = float64(t[len(t)/2].Nanoseconds()) / 1000
	}
	return out
}

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

// Package find ranks operations by how well they match what people and models ask for: it compares words of names,
// labels and documentation in all their forms, prefers rare words, and knows synonyms.
//
// The search runs over a few hundred operations in memory, so it compares the query with every one of them.
// Its quality is tested with the phrases that people and models use, each with the operation that has to be
// among the first.
package find

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"catena/engine"
	"catena/storage/text"
)

// How much a word counts, by where it stands.
const (
	inName   = 6.0
	inLabel  = 4.0
	inAlias  = 3.0
	inDoc    = 1.5
	inGroup  = 1.0 // the category
	inParam  = 0.5
	meant    = 0.7  // a word that means the same, to one that was said
	implied  = 0.15 // that what is meant is a document
	whole    = 2.0  // at most, for the part of the words behind the dot of its name that were said
	unsaid   = 0.3  // what each of the others there takes off
	legacy   = 0.5  // an operation that is there for programs of the platform's own pages
	faintest = 0.25 // what scores below this part of the best is not shown
)

// usual is what operations are about unless the query says otherwise.
const usual = "document"

// Finder searches the operations of an engine. It may be used by several goroutines.
type Finder struct {
	engine *engine.Engine
	mu     sync.Mutex
	last   *index
}

// New returns a Finder.
func New(e *engine.Engine) *Finder { return &Finder{engine: e} }

// Search returns the operations that allowed lets pass and that fit the query, the best
// first. A query without words returns all of them by name.
func (f *Finder) Search(query string, allowed func(name string) bool) []engine.OpDoc {
	return f.index().search(query, allowed)
}

// index is that of the present set of operations.
func (f *Finder) index() *index {
	set := f.engine.Set()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == nil || !f.last.set.Same(set) {
		f.last = newIndex(set)
	}
	return f.last
}

// index is what the operations of a set are found by. It never changes.
type index struct {
	set   *engine.Set
	docs  []engine.OpDoc
	verbs [][]string         // of the operations: the stems of what is behind the dot of the name
	words map[string][]place // by stem, in the order of the operations
}

// place is an operation that has a word, and how much it counts there.
type place struct {
	at     int
	weight float64
}

func newIndex(set *engine.Set) *index {
	x := &index{set: set, words: map[string][]place{}}
	for _, name := range set.Names() {
		doc, ok := set.DescribeOp(name)
		if !ok {
			continue
		}
		i := len(x.docs)
		x.docs = append(x.docs, doc)
		_, verb, _ := strings.Cut(doc.ID, ".")
		x.verbs = append(x.verbs, stems(apart(verb)))
		x.add(i, inName, doc.ID+" "+apart(doc.ID))
		x.add(i, inLabel, doc.Label)
		x.add(i, inDoc, doc.Description)
		x.add(i, inGroup, doc.Category)
		for _, alias := range doc.Aliases {
			x.add(i, inAlias, apart(alias))
		}
		for _, p := range doc.Params {
			x.add(i, inParam, apart(p.Name)+" "+p.Description)
		}
	}
	return x
}

// add enters the words of a text. A word counts once for an operation: where it counts most.
func (x *index) add(i int, weight float64, s string) {
	for _, stem := range stems(s) {
		all := x.words[stem]
		if n := len(all); n > 0 && all[n-1].at == i {
			all[n-1].weight = max(all[n-1].weight, weight)
		} else {
			x.words[stem] = append(all, place{i, weight})
		}
	}
}

func (x *index) search(query string, allowed func(name string) bool) []engine.OpDoc {
	asked := stems(apart(query))
	scores, fit := make([]float64, len(x.docs)), make([]float64, len(x.docs))
	for _, stem := range asked {
		clear(fit)
		x.score(stem, fit)
		for i, s := range fit {
			scores[i] += s
		}
	}
	for _, p := range x.words[usual] {
		if scores[p.at] > 0 {
			scores[p.at] += p.weight * implied
		}
	}
	for i := range scores {
		if scores[i] == 0 {
			continue
		}
		scores[i] += x.covered(i, asked)
		if family, _, _ := strings.Cut(x.docs[i].ID, "."); old[family] {
			scores[i] *= legacy
		}
	}
	type hit struct {
		at    int
		score float64
	}
	var hits []hit
	best := 0.0
	for i := range x.docs {
		if (scores[i] > 0 || len(asked) == 0) && allowed(x.docs[i].ID) {
			hits = append(hits, hit{i, scores[i]})
			best = max(best, scores[i])
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	out := make([]engine.OpDoc, 0, len(hits))
	for _, h := range hits {
		if h.score >= best*faintest {
			out = append(out, x.docs[h.at])
		}
	}
	return out
}

// covered prefers operations whose names say little else than the query does, by the words behind the dot.
func (x *index) covered(i int, asked []string) float64 {
	words := x.verbs[i]
	if len(words) == 0 {
		return 0
	}
	n := 0
	for _, w := range words {
		if slices.Contains(asked, w) {
			n++
		}
	}
	return whole*float64(n)/float64(len(words)) - unsaid*float64(len(words)-n)
}

// score sets how well operations fit one word, or one that means the same.
func (x *index) score(stem string, fit []float64) {
	rare := func(stem string) float64 { return math.Log(1 + float64(len(x.docs))/float64(1+len(x.words[stem]))) }
	take := func(stem string, part float64) {
		for _, p := range x.words[stem] {
			fit[p.at] = max(fit[p.at], part*p.weight)
		}
	}
	take(stem, rare(stem))
	for _, other := range synonyms()[stem] {
		take(other, meant*min(rare(stem), rare(other))) // a rare synonym does not outweigh the word that was said
	}
}

// stems are the words of an English text without their endings, and without those that
// every sentence has.
func stems(s string) []string {
	return slices.DeleteFunc(text.Analyse("en", s).Stems(), func(stem string) bool { return common()[stem] })
}

// apart writes the words of a name apart: "Document.SetProperty" as "Document Set Property".
func apart(name string) string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

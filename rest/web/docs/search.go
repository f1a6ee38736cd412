package docs

import (
	"cmp"
	"html"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"catena/storage/text"
)

// language is that of the manual.
const language = "en"

// inHeading is how much more a word counts in a heading than in the text below it.
const inHeading = 4

// asWritten is how much more a section counts that holds the query as it was written.
const asWritten = 1.5

// mostResults bounds what a search returns.
const mostResults = 20

// Result is a section that a search found.
type Result struct {
	Page    *Page
	Heading Heading
	Excerpt string // HTML, with the words of the query in em
	text    string // of the section
	score   float64
}

// Path is the address of the section below the server's prefix.
func (r *Result) Path() string { return r.Page.Path() + "#" + r.Heading.ID }

// index is every section, by each word in its text.
var index = sync.OnceValue(func() map[string][]Result {
	x := map[string][]Result{}
	for _, p := range read() {
		for _, s := range p.sections {
			counts := map[string]float64{}
			for _, term := range terms(s.text) {
				counts[term] = 1
			}
			for _, term := range terms(s.Text) {
				counts[term] += inHeading
			}
			for term, n := range counts {
				x[term] = append(x[term], Result{Page: p, Heading: s.Heading, text: s.text, score: n})
			}
		}
	}
	return x
})

// mostWords bounds a query: the words behind these are ignored.
const mostWords = 16

// Search returns the sections that hold words of a query in any of their forms, the best first: those with more of
// the words, with rarer words, and with words in the heading.
func Search(query string) []Result {
	asked := strings.Fields(query)
	query = strings.Join(asked[:min(len(asked), mostWords)], " ")
	total := 0
	for _, p := range read() {
		total += len(p.sections)
	}
	found := map[string]Result{}
	for _, term := range terms(query) {
		hits := index()[term]
		rare := math.Log(1 + float64(total)/float64(1+len(hits)))
		for _, r := range hits {
			r.score = r.score*rare + 2*rare + found[r.Path()].score // a second word counts more than the same word in a heading
			found[r.Path()] = r
		}
	}
	out := make([]Result, 0, len(found))
	for _, r := range found {
		if strings.Contains(strings.ToLower(r.Heading.Text+" "+r.text), strings.ToLower(query)) {
			r.score *= asWritten
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Result) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Path(), b.Path())) })
	out = out[:min(len(out), mostResults)]
	for i := range out {
		out[i].Excerpt = excerpt(out[i], query)
	}
	return out
}

// terms are the stems of the words of a text.
func terms(s string) []string {
	return slices.DeleteFunc(text.Analyse(language, s).Terms(), func(term string) bool { return !strings.HasPrefix(term, language+":") })
}

// excerpt is the part of a section around the first word of the query, or its beginning if only the heading holds one.
func excerpt(r Result, query string) string {
	var phrases []text.Phrase
	for word := range strings.FieldsFuncSeq(query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		phrases = append(phrases, text.Phrase{Words: word})
	}
	body := strings.Join(strings.Fields(r.text), " ")
	if pieces := text.Segments(body, text.Find(language, body, phrases)); len(pieces) > 0 {
		return pieces[0]
	}
	words := strings.Fields(body)
	return html.EscapeString(strings.Join(words[:min(len(words), 20)], " "))
}

package text

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Phrase is what is looked for in a text, as Text.Has takes it.
type Phrase struct {
	Words  string
	Prefix bool
}

// Bounds of what is marked, in bytes and numbers.
const (
	shortText   = 200 // is shown whole
	before      = 40  // of what is shown before a mark,
	after       = 80  // and after it
	maxSegments = 5
	maxMarked   = 100
)

// Span is a part of a text, by its bytes.
type Span struct{ From, To int }

// Find returns where the phrases are in a text, in order and without overlaps.
func Find(language, s string, phrases []Phrase) []Span {
	s = s[:min(len(s), maxText)]
	t := newAnalysis(Language(language))
	var at []Span
	each(s, func(word, folded string, from, to int) bool {
		pieces := pieces(s[from:to])
		t.add(word, folded, pieces)
		for _, piece := range pieces {
			at, from = append(at, Span{from, from + len(piece)}), from+len(piece)
		}
		if len(pieces) == 0 {
			at = append(at, Span{from, to})
		}
		return len(at) < MaxWords
	})
	var found []Span
	for _, p := range phrases[:min(len(phrases), maxMarked)] {
		for _, want := range t.wanted(p.Words) {
			s, ok := t.seek(want, p.Prefix)
			for i := 0; ok && i < len(at) && len(found) < maxMarked; i++ {
				if n := s.begins(i); n > 0 {
					found = append(found, Span{at[i].From, at[i+n-1].To})
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b Span) int { return a.From - b.From })
	return joined(found)
}

// joined makes one of spans that overlap.
func joined(spans []Span) []Span {
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.From < out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// Segments returns pieces of a text in which the spans are marked, as HTML: <em>mark</em>. A
// short text is one piece.
func Segments(s string, spans []Span) []string {
	var out []string
	for len(spans) > 0 && len(out) < maxSegments {
		from, to := 0, len(s)
		if len(s) > shortText {
			from, to = around(s, spans[0])
		}
		n := 0
		for n < len(spans) && spans[n].To <= to {
			n++
		}
		out = append(out, marked(s, from, to, spans[:n]))
		spans = spans[n:]
		for len(spans) > 0 && spans[0].From < to { // across the end of the piece
			spans = spans[1:]
		}
	}
	return out
}

// around is the part of a text about a span, cut between words.
func around(s string, at Span) (from, to int) {
	from, to = max(0, at.From-before), min(len(s), at.To+after)
	if from > 0 {
		if i := strings.IndexFunc(s[from:at.From], unicode.IsSpace); i >= 0 {
			from += i
		}
		for from < at.From && !utf8.RuneStart(s[from]) {
			from++
		}
	}
	if to < len(s) {
		if i := strings.LastIndexFunc(s[at.To:to], unicode.IsSpace); i >= 0 {
			to = at.To + i
		}
		for to > at.To && !utf8.RuneStart(s[to]) {
			to--
		}
	}
	return from, to
}

func marked(s string, from, to int, spans []Span) string {
	var b strings.Builder
	for _, m := range spans {
		b.WriteString(html.EscapeString(s[from:m.From]) + "<em>" + html.EscapeString(s[m.From:m.To]) + "</em>")
		from = m.To
	}
	b.WriteString(html.EscapeString(s[from:to]))
	return strings.Join(strings.Fields(b.String()), " ")
}

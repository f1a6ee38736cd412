package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is a LIKE operand: runs of literal text between %, where "_" is one character.
// There are always one run or more; one means that the pattern has no %.
type pattern struct {
	runs [][]rune // of each run the characters, any for "_"
	fold bool
	open bool // does not begin with %
	shut bool // does not end with %
}

// anyRune stands for "_" in a run.
const anyRune = -1

// newPattern compiles a LIKE pattern into the runs of characters between its % signs. A backslash makes the next character literal.
func newPattern(s string, fold bool) *pattern {
	if fold {
		s = strings.ToLower(s)
	}
	p := &pattern{fold: fold, open: true, shut: true, runs: [][]rune{nil}}
	escaped := false
	for _, r := range s {
		last := &p.runs[len(p.runs)-1]
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case !escaped && r == '%':
			p.runs = append(p.runs, nil)
		case !escaped && r == '_':
			*last = append(*last, anyRune)
		default:
			*last = append(*last, r)
		}
		escaped = false
	}
	if escaped {
		last := &p.runs[len(p.runs)-1]
		*last = append(*last, '\\')
	}
	return p
}

// match reports whether a text matches. It takes time in proportion to the text, except for runs with "_" in them,
// which are compared at every place: work counts that, and its error ends the match.
func (p *pattern) match(s string, work func(int) error) (bool, error) {
	if err := work(len(s)); err != nil {
		return false, err
	}
	if p.fold {
		s = strings.ToLower(s)
	}
	// The first and the last run are tied to the ends. For those between, taking the earliest place
	// is enough: a later one leaves less text for what follows. So nothing is ever tried twice.
	rest, ok := runAt(s, p.runs[0])
	if !ok || len(p.runs) == 1 {
		return ok && rest == "", nil
	}
	for _, run := range p.runs[1 : len(p.runs)-1] {
		var err error
		if rest, ok, err = runIn(rest, run, work); !ok {
			return false, err
		}
	}
	return runEnds(rest, p.runs[len(p.runs)-1]), nil
}

// runAt matches a run at the start and returns what follows.
func runAt(s string, run []rune) (string, bool) {
	for _, want := range run {
		r, n := utf8.DecodeRuneInString(s)
		if n == 0 || want != anyRune && want != r {
			return "", false
		}
		s = s[n:]
	}
	return s, true
}

// runIn matches a run anywhere, as early as possible.
func runIn(s string, run []rune, work func(int) error) (string, bool, error) {
	// Text that is not UTF-8 has to be compared rune by rune: each bad byte decodes to U+FFFD,
	// which is three bytes once the run is written as a string.
	if !slices.Contains(run, anyRune) && utf8.ValidString(s) {
		_, rest, ok := strings.Cut(s, string(run))
		return rest, ok, nil
	}
	for {
		if rest, ok := runAt(s, run); ok {
			return rest, true, nil
		}
		if err := work(len(run)); err != nil {
			return "", false, err
		}
		_, n := utf8.DecodeRuneInString(s)
		if n == 0 {
			return "", false, nil
		}
		s = s[n:]
	}
}

// runEnds matches a run at the end.
func runEnds(s string, run []rune) bool {
	skip := utf8.RuneCountInString(s) - len(run)
	if skip < 0 {
		return false
	}
	for range skip {
		_, n := utf8.DecodeRuneInString(s)
		s = s[n:]
	}
	rest, ok := runAt(s, run)
	return ok && rest == ""
}

// Prefix returns the literal text every match of a LIKE or ILIKE begins with, and whether
// the pattern is that text followed by a single %.
func (p *Predicate) Prefix() (prefix string, only bool) {
	if p.match == nil {
		return "", false
	}
	first := p.match.runs[0]
	n := 0
	for n < len(first) && first[n] != anyRune {
		n++
	}
	only = n == len(first) && len(p.match.runs) == 2 && len(p.match.runs[1]) == 0
	return string(first[:n]), only
}

// Exact reports whether a LIKE or ILIKE pattern has no wildcard, and returns its text.
func (p *Predicate) Exact() (string, bool) {
	prefix, _ := p.Prefix()
	if p.match == nil || len(p.match.runs) != 1 || len([]rune(prefix)) != len(p.match.runs[0]) {
		return "", false
	}
	return prefix, true
}

// Text is text that a fulltext search looks at, cut into words.
type Text interface {
	// Has reports whether the words of a phrase occur one behind the other, in any of their
	// forms; with a prefix the last one may go on.
	Has(phrase string, prefix bool) bool
}

// literal escapes what LIKE takes for more than itself.
var literal = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Literal makes a text match only itself in LIKE and ILIKE.
func Literal(s string) string { return literal.Replace(s) }

// Term is a word or a phrase of a fulltext search.
type Term struct {
	Phrase string
	Not    bool // it must not occur
	Prefix bool // the last word may go on
}

// Search returns what a fulltext predicate searches for: alternatives of terms that all have
// to be met. An alternative without a term that must occur finds nothing.
func (p *Predicate) Search() [][]Term { return p.words }

// words is a fulltext search.
type words [][]Term

// parseWords reads "a b OR c -d \"e f\" g*".
func parseWords(s string) words {
	w := words{nil}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var t Term
		if s[0] == '-' || s[0] == '+' {
			t.Not = s[0] == '-'
			s = s[1:]
		}
		if strings.HasPrefix(s, `"`) {
			t.Phrase, s, _ = strings.Cut(s[1:], `"`)
		} else if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
			t.Phrase, s = s[:i], s[i:]
		} else {
			t.Phrase, s = s, ""
		}
		if t.Phrase == "OR" && !t.Not {
			w = append(w, nil)
			continue
		}
		// Words next to each other are joined by AND anyway; punctuation alone searches for
		// nothing.
		if t.Phrase == "AND" || !strings.ContainsFunc(t.Phrase, isWord) {
			continue
		}
		t.Prefix = strings.HasSuffix(t.Phrase, "*") || strings.HasSuffix(t.Phrase, "%")
		w[len(w)-1] = append(w[len(w)-1], t)
	}
	return w
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// match reports whether the text has the words. A search without any finds nothing.
func (w words) match(text Text, work func(int) error) (bool, error) {
	for _, alternative := range w {
		ok, positive := true, false
		for _, t := range alternative {
			if err := work(searchWork); err != nil {
				return false, err
			}
			ok = ok && text.Has(t.Phrase, t.Prefix) != t.Not
			positive = positive || !t.Not
		}
		if ok && positive {
			return true, nil
		}
	}
	return false, nil
}

package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is a LIKE operand: runs of literal text between %, where "_" is one character.
type pattern struct {
	runs [][]rune // of each run the characters, any for "_"
	fold bool
	open bool // does not begin with %
	shut bool // does not end with %
}

// anyRune stands for "_" in a run.
const anyRune = -1

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

func (p *pattern) match(s string) bool {
	if p.fold {
		s = strings.ToLower(s)
	}
	rest, ok := runAt(s, p.runs[0])
	if !ok || len(p.runs) == 1 {
		return ok && rest == ""
	}
	for _, run := range p.runs[1 : len(p.runs)-1] {
		if rest, ok = runIn(rest, run); !ok {
			return false
		}
	}
	return runEnds(rest, p.runs[len(p.runs)-1])
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
func runIn(s string, run []rune) (string, bool) {
	for {
		if rest, ok := runAt(s, run); ok {
			return rest, true
		}
		_, n := utf8.DecodeRuneInString(s)
		if n == 0 {
			return "", false
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

// words is a fulltext search: alternatives of terms that all have to be met.
type words [][]term

// term is a word or a phrase.
type term struct {
	tokens []string
	not    bool
	prefix bool // the last token may go on
}

// parseWords reads "a b OR c -d \"e f\" g*".
func parseWords(s string) words {
	w := words{nil}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var t term
		if s[0] == '-' || s[0] == '+' {
			t.not = s[0] == '-'
			s = s[1:]
		}
		var piece string
		if strings.HasPrefix(s, `"`) {
			piece, s, _ = strings.Cut(s[1:], `"`)
		} else if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
			piece, s = s[:i], s[i:]
		} else {
			piece, s = s, ""
		}
		if piece == "OR" && !t.not {
			w = append(w, nil)
			continue
		}
		if piece == "AND" {
			continue
		}
		t.prefix = strings.HasSuffix(piece, "*") || strings.HasSuffix(piece, "%")
		if t.tokens = Tokens(piece); len(t.tokens) > 0 {
			w[len(w)-1] = append(w[len(w)-1], t)
		}
	}
	return w
}

// Tokens cuts text into words in lower case.
func Tokens(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// match reports whether the text has the words. A search without any finds nothing.
func (w words) match(text string) bool {
	tokens := Tokens(text)
	for _, alternative := range w {
		ok, positive := true, false
		for _, t := range alternative {
			ok = ok && t.in(tokens) != t.not
			positive = positive || !t.not
		}
		if ok && positive {
			return true
		}
	}
	return false
}

func (t term) in(tokens []string) bool {
	for i := range len(tokens) - len(t.tokens) + 1 {
		found := true
		for j, want := range t.tokens {
			got := tokens[i+j]
			last := t.prefix && j == len(t.tokens)-1
			found = found && (got == want || last && strings.HasPrefix(got, want))
		}
		if found {
			return true
		}
	}
	return false
}

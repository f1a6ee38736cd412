// Package text analyses text for search: it splits text into words in lower case without accents, and reduces them to
// stems in the language of the text. Stems come from the Snowball algorithms; scripts without blanks are searched
// character by character.
//
// A word whose case changes, or in which digits follow letters, is found by its pieces too: TrashedFile1 by trashed file.
//
// The same analysis is applied to documents when they are indexed and to the text of a query, so a change of
// it requires that all documents are indexed again. Words are kept in two forms: folded, for exact phrases
// and prefixes, and stemmed, for words in other inflections. What is analysed is bounded in words, terms and
// length, as a document may be a dump of data that nobody searches.
package text

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of what is analysed.
const (
	MaxWord  = 64 // bytes of a word; what is longer is cut
	MaxWords = 50_000
	MaxTerms = 4000 // different terms of one text

	maxPhrase = 100 // words of a phrase that is looked for
	maxPieces = 6   // of a word; what has more is a digest or an address, of which nobody looks for a piece
)

// Text is analysed text. A word whose case changes, or in which digits follow letters, such as TrashedFile1, is found as
// a whole and by its pieces, which are words one behind the other.
type Text struct {
	language  string
	forms     []form
	words     []uint16 // in their order, by their forms
	compounds map[int]compound
}

// form is a word, folded, and its stem.
type form struct{ word, stem string }

// compound is a word in pieces, by the place of the first one.
type compound struct {
	pieces int
	form   uint16
}

// analysis is a text that is being analysed.
type analysis struct {
	Text
	known map[string]uint16 // forms of words, with their accents
}

func newAnalysis(language string) *analysis {
	return &analysis{Text{language: language}, map[string]uint16{}}
}

// Analyse cuts a text into words. The language is a tag such as "fr" or "pt-BR", or a name
// in English; what is not known is taken for English.
func Analyse(language, s string) *Text { return analyse(Language(language), s, MaxWords, pieces) }

func analyse(language, s string, most int, cut func(word string) []string) *Text {
	t := newAnalysis(language)
	each(s, func(word, folded string, from, to int) bool {
		t.add(word, folded, cut(s[from:to]))
		return len(t.words) < most
	})
	return &t.Text
}

// add adds a word behind the others.
func (t *analysis) add(word, folded string, pieces []string) {
	if len(pieces) == 0 {
		t.words = append(t.words, t.form(word, folded))
		return
	}
	if t.compounds == nil {
		t.compounds = map[int]compound{}
	}
	t.compounds[len(t.words)] = compound{len(pieces), t.form(word, folded)}
	for _, piece := range pieces {
		piece = strings.ToLower(piece)
		t.words = append(t.words, t.form(piece, fold(piece)))
	}
}

// form returns the form of a word.
func (t *analysis) form(word, folded string) uint16 {
	n, ok := t.known[word]
	if !ok {
		n = uint16(len(t.forms))
		t.known[word] = n
		t.forms = append(t.forms, form{folded, fold(stemmers[t.language](word))})
	}
	return n
}

// pieces cuts a word in front of capital letters behind small ones, and between letters and digits; nil if there is nothing
// to cut.
func pieces(word string) []string {
	if len(word) > MaxWord {
		return nil
	}
	var all []string
	start, before := 0, kindNone
	for i, r := range word {
		kind := kindOf(r)
		if kind == kindNone {
			continue // an accent goes with its letter
		}
		if before == kindSmall && kind == kindCapital || before != kindNone && (before == kindDigit) != (kind == kindDigit) {
			all, start = append(all, word[start:i]), i
		}
		before = kind
	}
	if len(all) == 0 || len(all) >= maxPieces {
		return nil
	}
	return append(all, word[start:])
}

// piecesAsked cuts a word of a query as pieces does, unless only digits follow letters in it: all that is numbered in the same way
// would have to be looked at for such a word, and invoice7 does not mean an invoice and a 7.
func piecesAsked(word string) []string {
	before := kindNone
	for _, r := range word {
		kind := kindOf(r)
		if before == kindSmall && kind == kindCapital {
			return pieces(word)
		}
		if kind != kindNone {
			before = kind
		}
	}
	return nil
}

// Kinds of characters, between which words are cut.
const (
	kindNone = iota
	kindSmall
	kindCapital
	kindDigit
)

func kindOf(r rune) int {
	switch {
	case 'a' <= r && r <= 'z':
		return kindSmall
	case unicode.IsDigit(r):
		return kindDigit
	case unicode.IsUpper(r):
		return kindCapital
	case unicode.IsMark(r):
		return kindNone
	}
	return kindSmall
}

// each calls fn with the words of a text in lower case, with and without accents, and with
// where they begin and end, until it returns false.
func each(s string, fn func(word, folded string, from, to int) bool) {
	start := -1
	end := func(at int) bool {
		if start < 0 {
			return true
		}
		word, from := strings.ToLower(s[start:at]), start
		start = -1
		// Long words are mostly not words: digests, base64, addresses. Their beginning still finds them.
		if len(word) > MaxWord {
			word = cut(word)
		}
		folded := fold(word)
		return folded == "" || fn(word, folded, from, at)
	}
	for i, r := range s {
		switch {
		case single(r):
			if !end(i) || !fn(string(r), string(r), i, i+utf8.RuneLen(r)) {
				return
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		default:
			if !end(i) {
				return
			}
		}
	}
	end(len(s))
}

// cut shortens a word, between characters.
func cut(word string) string {
	n := MaxWord
	for n > 0 && !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}

// single reports whether a character is a word of its own.
func single(r rune) bool {
	return r > 0x2E7F && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// letters are those that do not come apart into a letter and an accent.
var letters = strings.NewReplacer("ß", "ss", "ø", "o", "æ", "ae", "œ", "oe", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i")

// fold takes accents off.
func fold(word string) string {
	plain := true
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return word
	}
	return letters.Replace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(word)))
}

// Has reports whether the words of a phrase occur one behind the other, in any of their
// forms. With a prefix the last word, or its stem, may go on: happi finds happy, whose stem it is.
func (t *Text) Has(phrase string, prefix bool) bool {
	for _, want := range t.wanted(phrase) {
		if s, ok := t.seek(want, prefix); ok {
			for i := range t.words {
				if s.begins(i) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// question is a phrase that is looked for in texts of a language.
type question struct{ language, phrase string }

// asked is a question with the forms of its phrase, which nobody changes.
type asked struct {
	question
	forms []*Text
}

// lately are questions that were asked lately, of no more than maxLately bytes: a search asks the same of many texts.
var lately [64]atomic.Pointer[asked]

const maxLately = 256

// wanted are the forms of a phrase, each of which a text may have: with its words in pieces, and as they are.
func (t *Text) wanted(phrase string) []*Text {
	q := question{t.language, phrase}
	at := &lately[maphash.Comparable(memoSeed, q)%uint64(len(lately))]
	if known := at.Load(); known != nil && known.question == q {
		return known.forms
	}
	forms := t.formsOf(phrase)
	if len(phrase) <= maxLately {
		q = question{strings.Clone(q.language), strings.Clone(phrase)} // which may be pieces of something long
		at.Store(&asked{q, forms})
	}
	return forms
}

func (t *Text) formsOf(phrase string) []*Text {
	cut := analyse(t.language, phrase, maxPhrase, piecesAsked)
	switch {
	case len(cut.words) == 0:
		return nil
	case len(cut.compounds) == 0:
		return []*Text{cut}
	}
	whole := newAnalysis(t.language)
	each(phrase, func(word, folded string, _, _ int) bool {
		whole.add(word, folded, nil)
		return len(whole.words) < maxPhrase
	})
	return []*Text{cut, &whole.Text}
}

// sought are words that are looked for in a text.
type sought struct {
	in *Text
	is [][]bool // by the words that are looked for: whether a form of the text is that one
}

// seek returns what is looked for, unless the text lacks one of the words.
func (t *Text) seek(want *Text, prefix bool) (s sought, ok bool) {
	s = sought{t, make([][]bool, len(want.words))}
	for j, n := range want.words {
		s.is[j] = make([]bool, len(t.forms))
		f, has, open := want.forms[n], false, prefix && j == len(want.words)-1
		for i, own := range t.forms {
			s.is[j][i] = !open && own.stem == f.stem || open && (strings.HasPrefix(own.word, f.word) || strings.HasPrefix(own.stem, f.word))
			has = has || s.is[j][i]
		}
		if !has {
			return s, false
		}
	}
	return s, true
}

// begins returns how many words from word i on are those that are looked for; 0: other words begin there.
func (s *sought) begins(i int) int {
	at := i
	for j := range s.is {
		n := s.meets(at, j)
		if n == 0 {
			return 0
		}
		at += n
	}
	return at - i
}

// meets returns of how many words the word at i is, if it is the one looked for in place j, else 0.
func (s *sought) meets(i, j int) int {
	if i >= len(s.in.words) {
		return 0
	}
	if s.is[j][s.in.words[i]] {
		return 1
	}
	if c, ok := s.in.compounds[i]; ok && s.is[j][c.form] {
		return c.pieces
	}
	return 0
}

// Terms are what the text is found by: each stem with its language, and each word that is
// not its own stem, for searches by the beginning of words. They are sorted.
func (t *Text) Terms() []string {
	terms, _ := t.terms()
	return terms
}

// terms returns the terms, and whether there are no more.
func (t *Text) terms() (terms []string, all bool) {
	terms = make([]string, 0, len(t.forms)+len(t.forms)/2)
	for _, f := range t.forms {
		terms = append(terms, t.language+":"+f.stem)
		if f.word != f.stem {
			terms = append(terms, Bare+f.word)
		}
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	return terms[:min(len(terms), MaxTerms)], len(terms) <= MaxTerms
}

// Bare is what the terms of words as they are written begin with.
const Bare = "=:"

// Words returns the words of a phrase as they are written, without accents.
func Words(phrase string) []string {
	var words []string
	each(phrase, func(_, folded string, _, _ int) bool {
		words = append(words, folded)
		return len(words) < maxPhrase
	})
	return words
}

// Stems are the terms that stand for one word of a phrase in any language. For a word in pieces they are more than there are
// languages: a text that has the word, or the words that its pieces are, is found by one of them, as are others. With a prefix
// the last piece may go on, and is none of them.
func Stems(phrase string, prefix bool) [][]string {
	var all [][]string
	each(phrase, func(word, _ string, from, to int) bool {
		terms := inLanguages(make([]string, 0, len(Languages)), word)
		if pieces := piecesAsked(phrase[from:to]); len(pieces) > 0 {
			if prefix {
				pieces = pieces[:len(pieces)-1]
			}
			longest := slices.MaxFunc(pieces, func(a, b string) int { return len(a) - len(b) })
			terms = inLanguages(terms, strings.ToLower(longest))
		}
		all = append(all, terms)
		return len(all) < maxPhrase
	})
	return all
}

func inLanguages(terms []string, word string) []string {
	for _, language := range Languages {
		terms = append(terms, language+":"+fold(stemmers[language](word)))
	}
	return terms
}

// Stems are the words of the text in their order, whole, without their endings.
func (t *Text) Stems() []string {
	stems := make([]string, 0, len(t.words))
	for i := 0; i < len(t.words); i++ {
		n := t.words[i]
		if c, ok := t.compounds[i]; ok {
			n = c.form
			i += c.pieces - 1
		}
		stems = append(stems, t.forms[n].stem)
	}
	return stems
}

// Each calls fn with a text, or with each of a list.
func Each(v any, fn func(any)) {
	if list, many := v.([]any); many {
		for _, item := range list {
			fn(item)
		}
		return
	}
	fn(v)
}

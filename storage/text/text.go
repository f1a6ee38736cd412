// Package text analyses text for search: it splits text into words in lower case without accents, and reduces them to
// stems in the language of the text. Stems come from the Snowball algorithms; scripts without blanks are searched
// character by character.
//
// The same analysis is applied to documents when they are indexed and to the text of a query, so a change of
// it requires that all documents are indexed again. Words are kept in two forms: folded, for exact phrases
// and prefixes, and stemmed, for words in other inflections. What is analysed is bounded in words, terms and
// length, as a document may be a dump of data that nobody searches.
package text

import (
	"slices"
	"strings"
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
)

// Text is analysed text.
type Text struct {
	language string
	words    []string // in their order, folded
	stems    []string // of the same words
}

// Analyse cuts a text into words. The language is a tag such as "fr" or "pt-BR", or a name
// in English; what is not known is taken for English.
func Analyse(language, s string) *Text { return analyse(language, s, MaxWords) }

func analyse(language, s string, most int) *Text {
	t := &Text{language: Language(language)}
	stem := stemmers[t.language]
	each(s, func(word, folded string, _, _ int) bool {
		t.words = append(t.words, folded)
		t.stems = append(t.stems, fold(stem(word)))
		return len(t.words) < most
	})
	return t
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
// forms. With a prefix the last word may go on, but not change.
func (t *Text) Has(phrase string, prefix bool) bool {
	want := analyse(t.language, phrase, maxPhrase)
	n := len(want.words)
	if n == 0 {
		return false
	}
	for i := 0; i+n <= len(t.words); i++ {
		if t.begins(i, want, prefix) {
			return true
		}
	}
	return false
}

// begins reports whether the words wanted begin at word i.
func (t *Text) begins(i int, want *Text, prefix bool) bool {
	last := len(want.words) - 1
	for j, stem := range want.stems {
		if prefix && j == last {
			if !strings.HasPrefix(t.words[i+j], want.words[j]) {
				return false
			}
		} else if t.stems[i+j] != stem {
			return false
		}
	}
	return true
}

// Terms are what the text is found by: each stem with its language, and each word that is
// not its own stem, for searches by the beginning of words. They are sorted.
func (t *Text) Terms() []string {
	terms := make([]string, 0, len(t.words)+len(t.words)/2)
	for i, stem := range t.stems {
		terms = append(terms, t.language+":"+stem)
		if word := t.words[i]; word != stem {
			terms = append(terms, Bare+word)
		}
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	return terms[:min(len(terms), MaxTerms)]
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

// Stems are the terms that stand for one word of a phrase in any language.
func Stems(phrase string) [][]string {
	var all [][]string
	each(phrase, func(word, _ string, _, _ int) bool {
		terms := make([]string, 0, len(Languages))
		for _, language := range Languages {
			terms = append(terms, language+":"+fold(stemmers[language](word)))
		}
		all = append(all, terms)
		return len(all) < maxPhrase
	})
	return all
}

// Stems are the words of the text in their order, without their endings.
func (t *Text) Stems() []string { return slices.Clone(t.stems) }

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

package html

import (
	"strings"
	"unicode/utf8"
)

// plainText collects words, one blank between two, up to maxText bytes.
type plainText struct{ b []byte }

// add takes in the words of s, up to one that does not fit.
func (p *plainText) add(s string) {
	for i := 0; i < len(s); {
		if isSpace(s[i]) {
			i++
			continue
		}
		end := i
		for end < len(s) && !isSpace(s[end]) && s[end] < utf8.RuneSelf {
			end++
		}
		if end < len(s) && s[end] >= utf8.RuneSelf {
			p.addAny(s[i:])
			return
		}
		if !p.word(s[i:end]) {
			return
		}
		i = end
	}
}

// addAny is add for words that may have blanks beyond ASCII between them.
func (p *plainText) addAny(s string) {
	for word := range strings.FieldsSeq(s) {
		if !utf8.ValidString(word) || !p.word(word) {
			return
		}
	}
}

func (p *plainText) word(word string) bool {
	if len(p.b)+1+len(word) > maxText {
		return false
	}
	if len(p.b) > 0 {
		p.b = append(p.b, ' ')
	}
	p.b = append(p.b, word...)
	return true
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// String returns what was collected.
func (p *plainText) String() string { return string(p.b) }

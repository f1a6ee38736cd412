package decks

import (
	"strings"
	"unicode/utf8"
)

// plainText collects words, one blank between two, up to maxText bytes.
type plainText struct{ b strings.Builder }

func (p *plainText) add(s string) {
	for word := range strings.FieldsSeq(s) {
		if p.b.Len()+1+len(word) > maxText || !utf8.ValidString(word) {
			return
		}
		if p.b.Len() > 0 {
			p.b.WriteByte(' ')
		}
		p.b.WriteString(word)
	}
}

// String returns what was collected.
func (p *plainText) String() string { return p.b.String() }

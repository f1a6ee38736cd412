package decks

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"catena/storage/fault"
)

// filter copies the tokens of HTML that may stay.
type filter struct {
	z       *html.Tokenizer
	out     strings.Builder
	line    int
	column  int
	depth   int   // sections open
	opened  []int // lines and columns of them
	foreign int   // open svg and math elements
	md      []bool
	moved   bool // the place is past the present token already
	removed []string
	inner   bool // content of a template: no sections needed, any element that is harmless
}

func newFilter(src string) *filter {
	f := &filter{z: html.NewTokenizer(strings.NewReader(src)), line: 1, column: 1}
	f.out.Grow(len(src))
	return f
}

func (f *filter) run() error {
	for {
		kind := f.z.Next()
		raw := string(f.z.Raw())
		if kind == html.ErrorToken {
			if raw != "" {
				f.remove("unfinished tag")
			}
			break
		}
		if err := f.token(kind, raw); err != nil {
			return err
		}
		if !f.moved {
			f.advance(raw)
		}
		f.moved = false
	}
	if f.depth > 0 && !f.inner {
		return fault.Invalid.Errorf("HTML: <section> at line %d, column %d is not closed", f.opened[0], f.opened[1]).
			WithCode("invalid_html").At(f.opened[0], f.opened[1])
	}
	return nil
}

func (f *filter) token(kind html.TokenType, raw string) error {
	switch kind {
	case html.TextToken:
		return f.text(raw)
	case html.CommentToken:
		f.comment(raw)
	case html.StartTagToken, html.SelfClosingTagToken:
		return f.start(kind, raw)
	case html.EndTagToken:
		return f.end(raw)
	case html.DoctypeToken:
		if f.depth == 0 && !f.inner {
			return f.refuse("a document type")
		}
		f.remove("document type")
	}
	return nil
}

// advance moves the place over what was read.
func (f *filter) advance(raw string) {
	if i := strings.LastIndexByte(raw, '\n'); i >= 0 {
		f.line += strings.Count(raw, "\n")
		f.column, raw = 1, raw[i+1:]
	}
	f.column += utf8.RuneCountInString(raw)
}

// refuse is the error of what may not stand at the top level.
func (f *filter) refuse(what string) error {
	return fault.Invalid.Errorf("HTML: only <section> elements may stand at the top level, not %s (line %d, column %d)", what, f.line, f.column).
		WithCode("invalid_html").At(f.line, f.column)
}

func (f *filter) remove(what string) { f.removeAt(what, f.line, f.column) }

func (f *filter) removeAt(what string, line, column int) {
	if len(f.removed) < maxRemoved {
		f.removed = append(f.removed, fmt.Sprintf("%s at line %d, column %d", what, line, column))
	}
}

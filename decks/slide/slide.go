// Package slide splits the HTML of a deck into slides, and changes one of them while the bytes of all others stay the
// same. It is given HTML that package html has made harmless, and what it returns goes through that again; decks and
// who may change them are left to others.
//
// A slide has no identity of its own in HTML. It is named by its number in the order of reading, stacks
// included, so a program that changes slides should send the version of the deck that its numbers are from
// (if_match); otherwise a slide that somebody else inserts meanwhile shifts them.
package slide

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"catena/storage/fault"
)

// Slide is a slide: a section without a section inside.
type Slide struct {
	Number      int // from 1, as pages of a PDF file count
	Column, Row int // its place from the left, and downwards in a stack; from 1
	Stack       bool
	HTML        string

	at span
}

// span is a part of the source.
type span struct{ from, to int }

// Deck is the slides of a deck.
type Deck struct {
	Slides []Slide

	src     string
	columns []span
}

// open is a section whose end is not read yet.
type open struct {
	from int
	leaf bool
}

// Read finds the slides in clean HTML.
func Read(src string) *Deck {
	d := &Deck{src: src}
	var stack []open
	at, row := 0, 0
	z := html.NewTokenizer(strings.NewReader(src))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		from := at
		at += len(z.Raw())
		if kind == html.TextToken || kind == html.CommentToken {
			continue
		}
		if name, _ := z.TagName(); string(name) != "section" {
			continue
		}
		if kind != html.EndTagToken {
			if len(stack) > 0 {
				stack[len(stack)-1].leaf = false
			} else {
				row = 0
			}
			stack = append(stack, open{from, true})
			continue
		}
		if len(stack) == 0 {
			continue
		}
		last := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		whole := span{last.from, at}
		if last.leaf {
			row++
			d.Slides = append(d.Slides, Slide{
				Number: len(d.Slides) + 1, Column: len(d.columns) + 1, Row: row, Stack: len(stack) > 0, HTML: src[whole.from:whole.to], at: whole,
			})
		}
		if len(stack) == 0 {
			d.columns = append(d.columns, whole)
		}
	}
	return d
}

// Slide returns the slide of a number.
func (d *Deck) Slide(number int64) (*Slide, error) {
	if number < 1 || number > int64(len(d.Slides)) {
		return nil, fault.NotFound.Errorf("slide %d of the deck: does not exist, the deck has %d", number, len(d.Slides))
	}
	return &d.Slides[number-1], nil
}

// edit puts text in place of a part of the source.
type edit struct {
	span
	text string
}

// with returns the source with edits, which do not overlap.
func (d *Deck) with(edits ...edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(d.src[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(d.src[at:])
	return b.String()
}

// Replace puts HTML in place of a slide.
func (d *Deck) Replace(s *Slide, text string) string { return d.with(edit{s.at, text}) }

// Insert puts HTML behind a slide, nil for the beginning: below it in its stack, which is made if
// there is none, or to the right of its column. It returns the number of the first new slide, too.
func (d *Deck) Insert(after *Slide, below bool, text string) (src string, number int) {
	e, number := d.insertion(after, below, text)
	return d.with(e), number
}

func (d *Deck) insertion(after *Slide, below bool, text string) (e edit, number int) {
	switch {
	case after == nil:
		at := 0
		if len(d.columns) > 0 {
			at = d.columns[0].from
		}
		return edit{span{at, at}, text + "\n"}, 1
	case !below:
		at, number := d.columns[after.Column-1].to, after.Number+1
		for number <= len(d.Slides) && d.Slides[number-1].Column == after.Column {
			number++
		}
		return edit{span{at, at}, "\n" + text}, number
	case after.Stack:
		return edit{span{after.at.to, after.at.to}, "\n" + text}, after.Number + 1
	}
	return edit{after.at, "<section>\n" + after.HTML + "\n" + text + "\n</section>"}, after.Number + 1
}

// Remove takes a slide out, and its stack if nothing else is in that.
func (d *Deck) Remove(s *Slide) string { return d.with(d.removal(s)) }

func (d *Deck) removal(s *Slide) edit {
	at := s.at
	if !slices.ContainsFunc(d.Slides, func(other Slide) bool { return other.Column == s.Column && other.Number != s.Number }) {
		at = d.columns[s.Column-1]
	}
	for at.from > 0 && strings.IndexByte(" \t\r\n", d.src[at.from-1]) >= 0 {
		at.from--
	}
	return edit{at, ""}
}

// Move puts a slide behind another one, as Insert does, and returns its new number, too.
func (d *Deck) Move(s, after *Slide, below bool) (src string, number int, err error) {
	if after != nil && after.Number == s.Number {
		if below {
			return "", 0, fault.Invalid.Errorf("slide %d: cannot be placed below itself", s.Number).In("after").WithCode(fault.CodeInvalidValue)
		}
		if !s.Stack {
			return d.src, s.Number, nil
		}
	}
	in, number := d.insertion(after, below, s.HTML)
	if number > s.Number {
		number--
	}
	out := d.removal(s)
	// The first slide put at the beginning: the blanks before it stay where they are.
	if out.from < in.from && in.from < out.to {
		out.from = in.from
	}
	return d.with(out, in), number, nil
}

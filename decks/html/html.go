// Package html reads the HTML of decks: in one pass over the bytes it removes everything that could execute, rejects
// what is not a deck, and finds the slides, speaker notes and text. What tags and attributes may stay is in its
// tables. Where decks are kept and who sees them is left to others.
//
// The HTML of a deck comes from people, programs and language models that nobody trusts, and is shown to
// others. It is filtered by what is permitted, not by what is known to be dangerous: an element, an attribute
// or the scheme of an address that is not in the tables of names.go and harmless.go is removed. The filter
// works on the source text instead of a parsed tree, for two reasons. What is harmless keeps its bytes, so
// that authors find what they wrote; and the filter never has to write HTML, which is where sanitizers are
// attacked: markup that parses differently when it is read again. Every result is stable, that is, filtering
// it once more changes nothing, and the tests compare it with the tree that browsers would build.
package html

import (
	"context"
	"fmt"

	"catena/storage/fault"
)

// The limits of a deck's HTML.
const (
	MaxBytes  = 10 << 20
	MaxSlides = 1000
	MaxNotes  = 10_000 // characters
)

const (
	maxRemoved = 100 // reported
	maxPasses  = 8
	maxText    = 32 << 10 // bytes of the text that queries find a deck by
)

// Rules changes with the rules of what may stay, so that kept HTML is made harmless again by
// new ones.
const Rules = "4"

// Page is the HTML of a deck that nothing in acts any longer, and what is in it.
type Page struct {
	HTML    string
	Removed []string // what was taken out, with its place
	Slides  int      // sections without a section inside
	Notes   string   // of the speaker in the order of slides, a blank line between those of two
	Text    string   // that is to be seen, one blank between two words
}

// Clean returns HTML with everything taken out that could act, and says what that was. What
// stays keeps its bytes, unless a slide leaves something open. Anything but sections at the top level is refused, with its place.
// It ends with its context.
// Cleaning what came out changes nothing.
func Clean(ctx context.Context, src string) (*Page, error) {
	if len(src) > MaxBytes {
		return nil, fault.Limit.Errorf("HTML: %d bytes, limit %d", len(src), MaxBytes).WithCode(fault.CodeTooLong)
	}
	var removed []string
	clean := src
	for range maxPasses {
		f := newFilter(ctx, clean)
		if err := f.run(); err != nil {
			return nil, err
		}
		removed = append(removed, f.removed...)
		out := f.out.String()
		if out == clean {
			var err error
			if out, err = f.balance.repair(ctx, clean); err != nil {
				return nil, err
			}
		}
		if out == clean {
			if n := len(removed) - maxRemoved; n > 0 {
				removed = append(removed[:maxRemoved], fmt.Sprintf("and %d more", n))
			}
			return &Page{
				HTML: clean, Removed: removed,
				Slides: f.outline.slides, Notes: f.outline.notes(), Text: f.outline.text.String(),
			}, nil
		}
		clean = out
	}
	return nil, fault.Invalid.Errorf("HTML: cannot be sanitized").WithCode(fault.CodeInvalidHTML).At(1, 1)
}

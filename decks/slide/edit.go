package slide

import (
	"context"
	"errors"
	"slices"

	"catena/decks/deck"
	"catena/decks/html"
	"catena/engine"
	"catena/storage/fault"
)

// slideEdit is what all changes of one slide are given.
type slideEdit struct {
	ID      int64  `json:"id" doc:"Number of the deck."`
	IfMatch string `json:"if_match" alias:"ifMatch" default:"" doc:"Entity tags, one of which must match the current version of the deck; otherwise the change is refused."`
}

// slidePosition is where a slide comes to be.
type slidePosition struct {
	After *int64 `json:"after,omitzero" type:"long" doc:"Number of the slide to place it after; 0 means the beginning; the end by default."`
	Below bool   `json:"below" default:"false" doc:"Whether to place it below that slide in a stack, which is created if necessary, instead of to its right."`
}

// slide is the slide it comes after; nil for the beginning.
func (p slidePosition) slide(slides *Deck) (*Slide, error) {
	n := int64(len(slides.Slides))
	if p.After != nil {
		n = *p.After
	}
	if n == 0 {
		return nil, nil
	}
	return slides.Slide(n)
}

// slideHTML cleans the HTML that is to become slides of a deck.
func slideHTML(ctx context.Context, text string, inStack bool) (clean string, removed []string, err error) {
	p, err := html.Clean(ctx, text)
	if err != nil {
		var e *fault.Error
		if errors.As(err, &e) {
			err = e.In("html")
		}
		return "", nil, err
	}
	switch new := Read(p.HTML).Slides; {
	case len(new) == 0 || len(new) != p.Slides:
		return "", nil, deck.Invalid("html", fault.CodeInvalidHTML, "html: must be a <section> element")
	case inStack && slices.ContainsFunc(new, func(s Slide) bool { return s.Stack }):
		return "", nil, deck.Invalid("html", fault.CodeInvalidHTML, "html: a stack cannot contain a stack")
	}
	return p.HTML, p.Removed, nil
}

// edit changes the HTML of a deck and returns the slide of a number that it has then.
func (p slideEdit) edit(c *engine.Ctx, change func(*Deck) (src string, number int, removed []string, err error)) (map[string]any, error) {
	d, slides, err := slidesOf(c, p.ID)
	if err != nil {
		return nil, err
	}
	if err := deck.MatchVersion(d, p.IfMatch); err != nil {
		return nil, err
	}
	src, n, removed, err := change(slides)
	if err != nil {
		return nil, err
	}
	d, applied, err := deck.Input{"data": src}.Change(c, d)
	if err != nil {
		return nil, err
	}
	if slides, err = slidesOfHTML(d, applied.HTML); err != nil {
		return nil, err
	}
	removed = append(removed, applied.Removed...)
	if n == 0 {
		return map[string]any{"data": map[string]any{"deck_id": p.ID, "slide_count": int64(len(slides.Slides)), "etag": slideTag(d)}, "etag": slideTag(d)}, nil
	}
	s, err := slides.Slide(int64(n))
	if err != nil {
		return nil, fault.Internal.Errorf("deck %d: %w", p.ID, err)
	}
	return slideResult(d, slides, s, removed), nil
}

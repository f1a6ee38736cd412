package decks

import (
	"errors"
	"strings"
	"unicode/utf8"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// apply writes the fields to a deck and returns what was taken out of its HTML.
func (f *fields) apply(c *engine.Ctx, d storage.Props) (removed []string, err error) {
	if f.Title != nil {
		d["dc:title"] = *f.Title
	}
	if f.Description != nil {
		d["deck:description"] = *f.Description
	}
	if f.Width != nil {
		d["deck:width"] = *f.Width
	}
	if f.Height != nil {
		d["deck:height"] = *f.Height
	}
	if f.Visibility != nil {
		d["deck:visibility"] = *f.Visibility
	}
	if f.Data == nil {
		return nil, nil
	}
	clean, removed, err := sanitize(*f.Data)
	if err != nil {
		return nil, f.inHTML(err)
	}
	count, notes := slides(clean)
	switch {
	case count > maxSlides:
		return nil, f.inHTML(fault.Limit.Errorf("HTML: %d slides, limit %d", count, maxSlides).WithCode("too_many_slides"))
	case utf8.RuneCountInString(notes) > maxNotes:
		return nil, f.inHTML(fault.Limit.Errorf("HTML: notes of %d characters, limit %d", utf8.RuneCountInString(notes), maxNotes).WithCode("too_long"))
	}
	d["deck:slide_count"], d["deck:notes"], d["deck:sanitized"] = int64(count), notes, removed
	d["deck:html"], err = c.Tx.NewBlob("deck.html", "text/html", strings.NewReader(clean))
	return removed, err
}

// inHTML names the field an error is in as the caller does.
func (f *fields) inHTML(err error) error {
	name := "data"
	if f.Fields["deck_html"] != nil {
		name = "deck_html"
	}
	var e *fault.Error
	if errors.As(err, &e) {
		return e.In(name)
	}
	return err
}

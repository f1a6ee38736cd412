package decks

import (
	"errors"
	"strings"
	"unicode/utf8"

	"catena/decks/html"
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
	return f.applyHTML(c.Tx, d)
}

// applyHTML writes the HTML, made harmless, and what is known from it.
func (f *fields) applyHTML(tx *storage.Tx, d storage.Props) (removed []string, err error) {
	p, err := html.Clean(*f.Data)
	if err != nil {
		return nil, f.inHTML(err)
	}
	switch n := utf8.RuneCountInString(p.Notes); {
	case p.Slides > html.MaxSlides:
		return nil, f.inHTML(fault.Limit.Errorf("HTML: %d slides, limit %d", p.Slides, html.MaxSlides).WithCode(fault.CodeTooManySlides))
	case n > html.MaxNotes:
		return nil, f.inHTML(fault.Limit.Errorf("HTML: notes of %d characters, limit %d", n, html.MaxNotes).WithCode(fault.CodeTooLong))
	}
	b, err := tx.NewBlob("deck.html", "text/html", strings.NewReader(p.HTML))
	if err != nil {
		return nil, err
	}
	if err := tx.KeepText(b, p.Text); err != nil {
		return nil, err
	}
	d["deck:slide_count"], d["deck:notes"], d["deck:sanitized"] = int64(p.Slides), p.Notes, p.Removed
	d["deck:html"], d["deck:clean"] = b, cleanMark(tx.Repo(), b)
	return p.Removed, nil
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

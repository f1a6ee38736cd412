package deck

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"

	"catena/decks/field"
	"catena/decks/html"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Apply writes the values to a deck's properties and returns what was taken out of its HTML.
func (in Input) Apply(c *engine.Ctx, d storage.Props) (removed []string, err error) {
	for name, v := range in {
		if f := field.Fields.Find(name); f != nil && f.XPath != "" {
			d[f.XPath] = v
		}
	}
	if _, _, ok := in.HTML(); !ok {
		return nil, nil
	}
	return in.ApplyHTML(c.Tx, d)
}

// ApplyHTML writes the HTML, made harmless, and what is known from it.
func (in Input) ApplyHTML(tx *storage.Tx, d storage.Props) (removed []string, err error) {
	name, src, _ := in.HTML()
	p, err := html.Clean(tx.Context(), src)
	if err != nil {
		return nil, inHTML(name, err)
	}
	switch n := utf8.RuneCountInString(p.Notes); {
	case p.Slides > html.MaxSlides:
		return nil, inHTML(name, fault.Limit.Errorf("HTML: %d slides, limit %d", p.Slides, html.MaxSlides).WithCode(fault.CodeTooManySlides))
	case n > html.MaxNotes:
		return nil, inHTML(name, fault.Limit.Errorf("HTML: notes of %d characters, limit %d", n, html.MaxNotes).WithCode(fault.CodeTooLong))
	}
	b, err := tx.NewBlob("deck.html", "text/html", strings.NewReader(p.HTML))
	if err != nil {
		return nil, err
	}
	if err := storage.KeepText(tx, b, p.Text); err != nil {
		return nil, err
	}
	d["deck:slide_count"], d["deck:notes"], d["deck:sanitized"] = int64(p.Slides), p.Notes, p.Removed
	d["deck:html"], d["deck:clean"] = b, CleanMark(tx.Repo(), b)
	return p.Removed, nil
}

// inHTML says that an error is in the HTML, by the name under which the caller sent it.
func inHTML(name string, err error) error {
	var e *fault.Error
	if errors.As(err, &e) {
		return e.In(name)
	}
	return err
}

// CleanMark is what deck:clean holds for HTML that was made harmless here.
func CleanMark(r *storage.Repo, b *storage.Blob) string {
	m := hmac.New(sha256.New, r.Secret("deck clean "+html.Rules))
	m.Write([]byte(b.Digest))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:24])
}

// IsClean reports whether the HTML of a deck was made harmless here, by the rules of now.
func IsClean(tx *storage.Tx, d *storage.Doc, b *storage.Blob) bool {
	return hmac.Equal([]byte(storage.Prop[string](d, "deck:clean")), []byte(CleanMark(tx.Repo(), b)))
}

// Cleaned is HTML made harmless by the rules of now.
func Cleaned(ctx context.Context, text string) (string, error) {
	p, err := html.Clean(ctx, text)
	if err != nil {
		return "", err
	}
	return p.HTML, nil
}

package deck

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"catena/decks/field"
	"catena/decks/html"
	"catena/decks/style"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Applied is what became of the values that were written to a deck.
type Applied struct {
	Removed []string // what was taken out of its HTML and its style sheet
	HTML    string   // as it is stored
	Written bool     // the HTML was among the values
}

// Apply writes the values to a deck's properties.
func (in Input) Apply(c *engine.Ctx, d storage.Props) (out Applied, err error) {
	for name, v := range in {
		if f := field.Fields.Find(name); f != nil && f.XPath != "" {
			d[f.XPath] = v
		}
	}
	if _, _, ok := in.HTML(); ok {
		if out, err = in.ApplyHTML(c.Tx, d); err != nil {
			return out, err
		}
	}
	if css, _ := d["deck:css"].(string); css != "" {
		out.Removed = append(out.Removed, style.Removed(css)...)
	}
	return out, nil
}

// ApplyHTML writes the HTML, made harmless, and what is known from it.
func (in Input) ApplyHTML(tx *storage.Tx, d storage.Props) (out Applied, err error) {
	name, src, _ := in.HTML()
	p, err := html.Clean(tx.Context(), src)
	if err != nil {
		return out, inHTML(name, err)
	}
	switch n := utf8.RuneCountInString(p.Notes); {
	case p.Slides > html.MaxSlides:
		return out, inHTML(name, fault.Limit.Errorf("HTML: %d slides, limit %d", p.Slides, html.MaxSlides).WithCode(fault.CodeTooManySlides))
	case n > html.MaxNotes:
		return out, inHTML(name, fault.Limit.Errorf("HTML: notes of %d characters, limit %d", n, html.MaxNotes).WithCode(fault.CodeTooLong))
	}
	b, err := tx.NewBlob("deck.html", "text/html", strings.NewReader(p.HTML))
	if err != nil {
		return out, err
	}
	if err := storage.KeepText(tx, b, p.Text); err != nil {
		return out, err
	}
	d["deck:slide_count"], d["deck:notes"], d["deck:sanitized"] = int64(p.Slides), p.Notes, p.Removed
	d["deck:html"], d["deck:clean"] = b, CleanMark(tx.Repo(), b)
	return Applied{slices.Clone(p.Removed), p.HTML, true}, nil
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

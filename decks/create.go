package decks

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var create = engine.Op{
	Name: "Deck.Create", Label: "Create Deck of Slides", Category: category,
	Doc: "Creates a deck and returns it with all its fields. HTML that could act is taken out and reported.",
	Run: engine.On(createParams.run),
}

type createParams struct {
	Title string `json:"title" default:"deck" doc:"Title of 1 to 200 characters."`
	fields
	view
}

func (p createParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if _, err := p.set(); err != nil {
		return nil, err
	}
	p.fields.Title = &p.Title
	f, err := p.merge()
	if err != nil {
		return nil, err
	}
	return f.create(c, p.view, storage.Props{})
}

// create makes a deck of checked fields and of properties that callers do not set.
func (f *fields) create(c *engine.Ctx, v view, props storage.Props) (map[string]any, error) {
	if err := mayShare(c, f.Visibility); err != nil {
		return nil, err
	}
	removed, err := f.apply(c, props)
	if err != nil {
		return nil, err
	}
	folder, err := home(c, true)
	if err != nil {
		return nil, err
	}
	if props["deck:number"], err = c.Tx.Next("decks"); err != nil {
		return nil, err
	}
	slug, err := freeSlug(c.Tx, folder.ID(), *f.Title, "")
	if err != nil {
		return nil, err
	}
	props["deck:slug"] = slug
	d, err := c.Tx.Create(folder, "Deck", slug, props)
	if err == nil {
		err = c.Tx.Fire("deck.created", d, map[string]any{"deck": number(d)})
	}
	if err != nil {
		return nil, err
	}
	return v.result(c, d, true, removed)
}

const maxSlug = 80

// slugOf makes a title into a part of an address: letters without accents, digits, hyphens.
func slugOf(title string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(title)) {
		switch {
		case b.Len() >= maxSlug:
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’':
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if slug := norm.NFC.String(strings.Trim(b.String(), "-")); slug != "" {
		return slug
	}
	return "deck"
}

// freeSlug returns a slug that no other deck in the folder has, trashed ones included.
func freeSlug(tx *storage.Tx, folder, title, self string) (string, error) {
	base := slugOf(title)
	slug := base
	for range 10 {
		d, err := deckAt(tx, folder, slug)
		if err != nil {
			return "", err
		}
		if d == nil || d.ID() == self {
			return slug, nil
		}
		id := tx.NewID()
		slug = base + "-" + id[len(id)-6:]
	}
	return "", fault.Conflict.Errorf("slug %s: is taken", base)
}

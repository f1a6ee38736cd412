package decks

import (
	"catena/engine"
	"catena/storage"
)

var update = engine.Op{
	Name: "Deck.Update", Label: "Update Deck", Category: category,
	Doc: "Changes the given fields of one of the caller's decks, and how it looks, and returns the deck with all its fields.",
	Run: engine.On(updateParams.run),
}

type updateParams struct {
	ID int64 `json:"id" doc:"Number of the deck."`
	fields
	Looks   map[string]any `json:"looks,omitzero" doc:"How the deck is to look: theme_color, theme_font, transition, background_transition, margin, language, rtl, loop; what is left out stays."`
	IfMatch string         `json:"ifMatch" default:"" doc:"Entity tags, one of which must be that of the deck's present version."`
	view
}

func (p updateParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if _, err := p.set(); err != nil {
		return nil, err
	}
	d, err := find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	if err := matchVersion(d, p.IfMatch); err != nil {
		return nil, err
	}
	f, err := p.merge()
	if err != nil {
		return nil, err
	}
	if err := mayShare(c, f.Visibility); err != nil {
		return nil, err
	}
	props, err := looksOf(p.Looks)
	if err != nil {
		return nil, err
	}
	d, removed, err := f.change(c, d, props)
	if err != nil {
		return nil, err
	}
	return p.result(c, d, true, removed)
}

// change writes the fields to a deck, and properties that callers do not set, and returns what
// was taken out of its HTML.
func (f *fields) change(c *engine.Ctx, d *storage.Doc, props storage.Props) (now *storage.Doc, removed []string, err error) {
	if f.Data != nil {
		if err := keepBefore(c, d); err != nil {
			return nil, nil, err
		}
	}
	if removed, err = f.apply(c, props); err != nil {
		return nil, nil, err
	}
	before := version(d)
	for xpath, v := range props {
		if err := d.Set(xpath, v); err != nil {
			return nil, nil, err
		}
	}
	if now, err = c.Tx.Save(d, storage.SaveOptions{}); err != nil {
		return nil, nil, err
	}
	if version(now) != before {
		err = c.Tx.Fire("deck.updated", now, map[string]any{"deck": number(now)})
	}
	return now, removed, err
}

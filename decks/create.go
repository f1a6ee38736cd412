package decks

import (
	"catena/decks/deck"
	"catena/decks/field"
	"catena/engine"
	"catena/storage"
)

// create is the operation for a table of fields.
func create(t field.Table) engine.Op {
	params := deck.Params(t)
	// Defaults apply to new decks only: in an update, a parameter that is missing leaves its field as it is.
	for i := range params {
		if f := t.Find(params[i].Name); f != nil && f.New != nil {
			params[i].Default, params[i].Raw = f.New, false
		}
	}
	return engine.Op{
		Name: "Deck.Create", Label: "Create Deck of Slides", Category: deck.Category,
		Doc:     "Creates a deck and returns it with all its fields. Active content is removed from the HTML and reported.",
		Callers: engine.Anyone,
		Run:     engine.Declared(params, createParams.run),
	}
}

type createParams struct{ deck.View }

func (p createParams) run(c *engine.Ctx, _ engine.Void, params map[string]any) (map[string]any, error) {
	if _, err := p.Set(); err != nil {
		return nil, err
	}
	in, err := deck.ReadInput(params)
	if err != nil {
		return nil, err
	}
	d, applied, err := createOf(c, in, storage.Props{})
	if err != nil {
		return nil, err
	}
	return p.Changed(c, d, applied)
}

// createOf makes a deck of checked fields and of properties that callers do not set. Permissions to share
// come first, so that a caller who may not share learns that before anything is read or cleaned.
func createOf(c *engine.Ctx, in deck.Input, props storage.Props) (d *storage.Doc, out deck.Applied, err error) {
	if err := in.MayShare(c); err != nil {
		return nil, out, err
	}
	if out, err = in.Apply(c, props); err != nil {
		return nil, out, err
	}
	folder, err := deck.Home(c, true)
	if err != nil {
		return nil, out, err
	}
	// One sequence for the decks of all users: the service addresses a deck by its number alone.
	if props["deck:number"], err = c.Tx.Next("decks"); err != nil {
		return nil, out, err
	}
	title, _ := in["title"].(string)
	slug, err := deck.FreeSlug(c.Tx, folder.ID(), title, "")
	if err != nil {
		return nil, out, err
	}
	props["deck:slug"] = slug
	if d, err = c.Tx.Create(folder, "Deck", slug, props); err != nil {
		return nil, out, err
	}
	return d, out, c.Tx.Fire(storage.Event{Name: "deck.created", Doc: d, Extra: map[string]any{"deck": deck.Number(d)}})
}

// Package listing finds the decks of a folder or a team: by number, by address, page by page.
package listing

import (
	"catena/decks/deck"
	"catena/engine"
)

// Ops are the operations that list decks.
var Ops = []engine.Op{
	browse,
	list,
	listTrashed,
}

var list = engine.Op{
	Name: "Deck.List", Label: "List Decks", Category: deck.Category, Effect: engine.Reads,
	Doc: "Returns a page of the caller's decks as summaries, newest first.",
	Run: engine.On(listParams.run),
}

type listParams struct {
	Paging
	deck.View
}

func (p listParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	in, err := p.Set()
	if err != nil {
		return nil, err
	}
	folder, err := Home(c, false)
	if err != nil || folder == nil {
		return p.none(err)
	}
	docs, total, err := p.folder(c.Tx, folder.ID(), byListing)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(docs))
	for i, d := range docs {
		data[i] = p.Shape(c, c.As.Name, d, in, true)
	}
	return p.Answer(data, int(total.Active)), nil
}

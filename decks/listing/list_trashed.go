package listing

import (
	"catena/decks/deck"
	"catena/decks/field"
	"catena/engine"
)

var listTrashed = engine.Op{
	Name: "Deck.ListTrashed", Label: "List Trashed Decks", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns a page of the caller's decks in the trash, most recently trashed first.",
	Run:     engine.On(listTrashedParams.run),
}

type listTrashedParams struct {
	deck.Paging
	deck.View
}

func (p listTrashedParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if _, err := p.Set(); err != nil {
		return nil, err
	}
	folder, err := deck.Home(c, false)
	if err != nil || folder == nil {
		return p.Empty(err)
	}
	docs, total, err := folderPage(p.Paging, c.Tx, folder.ID(), byBinned)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(docs))
	for i, d := range docs {
		row := p.Shape(c, c.As.Name, d, field.A, true)
		delete(row, "url")
		row["trashed_at"] = deck.InstantOf(d, "deck:trashed_at")
		data[i] = row
	}
	return p.Answer(data, int(total.Trashed)), nil
}

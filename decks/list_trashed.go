package decks

import "catena/engine"

var listTrashed = engine.Op{
	Name: "Deck.ListTrashed", Label: "List Trashed Decks", Category: category, Effect: engine.Reads,
	Doc: "Returns a page of the caller's decks in the trash, the one put there last first.",
	Run: engine.On(listTrashedParams.run),
}

type listTrashedParams struct {
	paging
	view
}

func (p listTrashedParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if _, err := p.set(); err != nil {
		return nil, err
	}
	folder, err := home(c, false)
	if err != nil || folder == nil {
		return p.none(err)
	}
	docs, total, err := p.folder(c.Tx, folder.ID(), byBinned)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(docs))
	for i, d := range docs {
		row := p.shape(c, c.As.Name, d, revA, true)
		delete(row, "url")
		row["trashed_at"] = instantOf(d, "deck:trashed_at")
		data[i] = row
	}
	return p.answer(data, int(total.Trashed)), nil
}

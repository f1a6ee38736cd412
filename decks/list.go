package decks

import "catena/engine"

var list = engine.Op{
	Name: "Deck.List", Label: "List Decks", Category: category, Effect: engine.Reads,
	Doc: "Returns a page of the caller's decks as summaries, the newest first.",
	Run: engine.On(listParams.run),
}

type listParams struct {
	paging
	view
}

func (p listParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	in, err := p.set()
	if err != nil {
		return nil, err
	}
	folder, err := home(c, false)
	if err != nil || folder == nil {
		return p.none(err)
	}
	docs, total, err := p.folder(c.Tx, folder.ID(), byListing)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(docs))
	for i, d := range docs {
		data[i] = p.shape(c, c.As.Name, d, in, true)
	}
	return p.answer(data, int(total.Active)), nil
}

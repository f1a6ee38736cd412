package decks

import (
	"catena/decks/export"
	"catena/engine"
)

var listExports = engine.Op{
	Name: "Deck.ListExports", Label: "List Deck Exports", Category: category, Effect: engine.Reads,
	Doc: "Returns the exports of one of the caller's decks that are still kept, the newest first.",
	Run: engine.On(listExportsParams.run),
}

type listExportsParams struct {
	Deck int64 `json:"deck_id" alias:"id" doc:"Number of the deck."`
	view
}

func (p listExportsParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if _, err := find(c, p.Deck, false); err != nil {
		return nil, err
	}
	all, err := export.List(c.Tx, p.Deck)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(all))
	for i := range all {
		data[i] = p.exportFields(c, &all[i])
	}
	return map[string]any{"data": data, "meta": map[string]any{"total": int64(len(all))}}, nil
}

package export

import (
	"catena/decks/deck"
	"catena/engine"
)

var listExports = engine.Op{
	Name: "Deck.ListExports", Label: "List Deck Exports", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns the exports of one of the caller's decks that are still stored, newest first.",
	Run:     engine.On(listExportsParams.run),
}

type listExportsParams struct {
	Deck int64 `json:"deck_id" alias:"id" doc:"Number of the deck."`
	deck.View
}

func (p listExportsParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if _, err := deck.Find(c, p.Deck, false); err != nil {
		return nil, err
	}
	all, err := List(c.Tx, p.Deck)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(all))
	for i := range all {
		data[i] = exportFields(c, p.View, &all[i])
	}
	return map[string]any{"data": data, "meta": map[string]any{"total": int64(len(all))}}, nil
}

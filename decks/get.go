package decks

import "catena/engine"

var get = engine.Op{
	Name: "Deck.Get", Label: "Get Deck", Category: category, Effect: engine.Reads,
	Doc: "Returns one of the caller's decks with all its fields.",
	Run: engine.On(getParams.run),
}

type getParams struct {
	ID   int64 `json:"id" doc:"Number of the deck."`
	HTML bool  `json:"include_deck_html" alias:"includeHtml" default:"false" doc:"Whether revision A's result has the HTML of the deck; B's always has."`
	view
}

func (p getParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	return p.result(c, d, p.HTML, nil)
}

package decks

import (
	"catena/decks/deck"
	"catena/engine"
)

var get = engine.Op{
	Name: "Deck.Get", Label: "Get Deck", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns one of the caller's decks with all its fields.",
	Run:     engine.On(getParams.run),
}

type getParams struct {
	ID     int64  `json:"id" doc:"Number of the deck."`
	HTML   bool   `json:"include_deck_html" alias:"includeHtml" default:"false" doc:"Whether revision A's result has the HTML of the deck; B's always has."`
	Unless string `json:"ifNoneMatch" default:"" doc:"Entity tags; if the deck's is among them, the result has no data."`
	deck.View
}

// run returns only the entity tag if the caller has the current state already: HTML is then not read.
func (p getParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := deck.Find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	in, err := p.Set()
	if err != nil {
		return nil, err
	}
	if tag := deck.TagOf(d, in, p.HTML); deck.HasTag(p.Unless, tag) {
		return map[string]any{"data": nil, "etag": tag}, nil
	}
	return p.Result(c, d, p.HTML)
}

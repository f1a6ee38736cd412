package share

import (
	"catena/decks/deck"
	"catena/engine"
)

var listShareLinks = engine.Op{
	Name: "Deck.ListShareLinks", Label: "List Share Links", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns all private links to one of the caller's decks, newest first.",
	Run:     engine.On(listShareLinksParams.run),
}

type listShareLinksParams struct {
	ID   int64  `json:"deck_id" alias:"id" doc:"Number of the deck."`
	Base string `json:"base" default:"" doc:"Public address of the server, used as prefix of the addresses in the result."`
}

func (p listShareLinksParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if err := mayLink(c); err != nil {
		return nil, err
	}
	d, err := deck.Find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	all, err := links(c.Tx, d)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(all))
	for i := range all {
		data[i] = all[i].shape(c, deck.View{Base: p.Base}, d)
	}
	return map[string]any{"data": data, "meta": map[string]any{"total": int64(len(all))}}, nil
}

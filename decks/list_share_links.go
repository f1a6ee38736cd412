package decks

import "catena/engine"

var listShareLinks = engine.Op{
	Name: "Deck.ListShareLinks", Label: "List Share Links", Category: category, Effect: engine.Reads,
	Doc: "Returns all private links to one of the caller's decks, the newest first.",
	Run: engine.On(listShareLinksParams.run),
}

type listShareLinksParams struct {
	ID   int64  `json:"deck_id" alias:"id" doc:"Number of the deck."`
	Base string `json:"base" default:"" doc:"Public address that stands in front of the addresses in the result."`
}

func (p listShareLinksParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if err := mayLink(c); err != nil {
		return nil, err
	}
	d, err := find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	all, err := links(c.Tx, d)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(all))
	for i := range all {
		data[i] = all[i].shape(c, view{Base: p.Base}, d)
	}
	return map[string]any{"data": data, "meta": map[string]any{"total": int64(len(all))}}, nil
}

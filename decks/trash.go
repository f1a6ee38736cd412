package decks

import "catena/engine"

var trash = engine.Op{
	Name: "Deck.Trash", Label: "Trash Deck", Category: category,
	Doc: "Puts one of the caller's decks in the trash, where it is not lost. A deck that is there already stays there.",
	Run: engine.On(trashParams.run),
}

type trashParams struct {
	ID      int64  `json:"id" doc:"Number of the deck."`
	IfMatch string `json:"ifMatch" default:"" doc:"Entity tags, one of which must be that of the deck's present version."`
}

func (p trashParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := find(c, p.ID, true)
	if err != nil {
		return nil, err
	}
	if !d.IsTrashed() {
		if err := matchVersion(d, p.IfMatch); err != nil {
			return nil, err
		}
		if d, err = c.Tx.SetTrashed(d, true); err != nil {
			return nil, err
		}
		if err := c.Tx.Fire("deck.trashed", d, map[string]any{"deck": p.ID}); err != nil {
			return nil, err
		}
	}
	return map[string]any{"data": map[string]any{"id": p.ID, "trashed": true}}, nil
}

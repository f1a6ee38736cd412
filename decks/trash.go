package decks

import (
	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
)

var trash = engine.Op{
	Name: "Deck.Trash", Label: "Trash Deck", Category: deck.Category,
	Doc:     "Moves one of the caller's decks to the trash. A deck that is already in the trash stays there.",
	Callers: engine.Anyone,
	Run:     engine.On(trashParams.run),
}

type trashParams struct {
	ID      int64  `json:"id" doc:"Number of the deck."`
	IfMatch string `json:"ifMatch" default:"" doc:"Entity tags, one of which must match the current version of the deck."`
}

func (p trashParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := deck.Find(c, p.ID, true)
	if err != nil {
		return nil, err
	}
	// A repeated call succeeds without a second event, and its entity tag is not compared: trashing has made
	// the tag that the client knows out of date.
	if !d.IsTrashed() {
		if err := deck.MatchVersion(d, p.IfMatch); err != nil {
			return nil, err
		}
		if d, err = c.Tx.SetTrashed(d, true); err != nil {
			return nil, err
		}
		if err := c.Tx.Fire(storage.Event{Name: "deck.trashed", Doc: d, Extra: map[string]any{"deck": p.ID}}); err != nil {
			return nil, err
		}
	}
	return map[string]any{"data": map[string]any{"id": p.ID, "trashed": true}}, nil
}

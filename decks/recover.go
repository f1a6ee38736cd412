package decks

import (
	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
)

var recoverDeck = engine.Op{
	Name: "Deck.Recover", Label: "Recover Deck", Category: deck.Category,
	Doc:     "Restores one of the caller's decks from the trash. A deck that is not in the trash stays as it is.",
	Callers: engine.Anyone,
	Run:     engine.On(recoverParams.run),
}

type recoverParams struct {
	ID int64 `json:"id" doc:"Number of the deck."`
}

func (p recoverParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := deck.Find(c, p.ID, true)
	if err != nil {
		return nil, err
	}
	// A repeated call succeeds without a second event: a client whose answer was lost must be able to try again.
	if d.IsTrashed() {
		if d, err = c.Tx.SetTrashed(d, false); err != nil {
			return nil, err
		}
		if err := c.Tx.Fire(storage.Event{Name: "deck.recovered", Doc: d, Extra: map[string]any{"deck": p.ID}}); err != nil {
			return nil, err
		}
	}
	return map[string]any{"data": map[string]any{"id": p.ID, "trashed": false}}, nil
}

package decks

import (
	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var restore = engine.Op{
	Name: "Deck.Restore", Label: "Restore Deck", Category: deck.Category,
	Doc: "Restores the content and appearance of a stored version of one of the caller's decks, and returns the deck with all its fields. The previous state is saved as a " +
		"version; the deck's address and visibility are unchanged.",
	Callers: engine.Anyone,
	Run:     engine.On(restoreParams.run),
}

type restoreParams struct {
	ID      int64  `json:"id" doc:"Number of the deck."`
	Version string `json:"version" doc:"Version, for example 0.2."`
	deck.View
}

func (p restoreParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if _, err := p.Set(); err != nil {
		return nil, err
	}
	d, err := deck.Find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	all, err := c.Tx.Versions(d)
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		if v.VersionLabel() != p.Version {
			continue
		}
		// A version holds the number, slug and visibility of its time as well; remember and remind undo those.
		if d, err = c.Tx.Restore(v, storage.RestoreOptions{Keep: true, CheckOut: true}); err != nil {
			return nil, err
		}
		if err := c.Tx.Fire(storage.Event{Name: "deck.updated", Doc: d, Extra: map[string]any{"deck": p.ID, "restored": p.Version}}); err != nil {
			return nil, err
		}
		return p.Result(c, d, true)
	}
	return nil, fault.NotFound.Errorf("version %.20s of deck %d: does not exist", p.Version, p.ID)
}

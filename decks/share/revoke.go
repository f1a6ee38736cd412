package share

import (
	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var revokeShareLink = engine.Op{
	Name: "Deck.RevokeShareLink", Label: "Revoke Share Link", Category: deck.Category,
	Doc:     "Revokes a private link to one of the caller's decks, immediately and permanently.",
	Callers: engine.Anyone,
	Run:     engine.On(revokeShareLinkParams.run),
}

type revokeShareLinkParams struct {
	Deck int64 `json:"deck_id" doc:"Number of the deck."`
	ID   int64 `json:"id" doc:"Number of the link."`
}

func (p revokeShareLinkParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if err := mayLink(c); err != nil {
		return nil, err
	}
	d, err := deck.Find(c, p.Deck, false)
	if err != nil {
		return nil, err
	}
	var l link
	key := linkKey(d.ID(), p.ID)
	ok, err := c.Tx.Table(linkTable).Get(key, &l)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.NotFound.Errorf("share link %d of deck %d: does not exist", p.ID, p.Deck)
	}
	if err := l.remove(c.Tx, d); err != nil {
		return nil, err
	}
	err = c.Tx.Fire(storage.Event{Name: "share_link.revoked", Doc: d, Extra: map[string]any{"link": p.ID, "deck": p.Deck}})
	return map[string]any{"data": map[string]any{"id": p.ID, "deck_id": p.Deck, "revoked": true}}, err
}

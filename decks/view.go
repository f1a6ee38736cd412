package decks

import (
	"cmp"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var viewDeck = engine.Op{
	Name: "Deck.View", Label: "View Deck", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc: "Returns the deck at an address to those who may see it: everybody, the owner's team, or only the owner. A deck that " +
		"the caller may not see is reported as not found. Member editable of the result says whether the caller is the owner.",
	Run: engine.On(viewDeckParams.run),
}

type viewDeckParams struct {
	Username string `json:"username" doc:"Name of the owner."`
	Slug     string `json:"slug" doc:"The deck's part of the address."`
	Probe    bool   `json:"probe" default:"false" doc:"Whether to return only that the caller may see the deck, without its fields."`
	Base     string `json:"base" default:"" doc:"Public address of the server, used as prefix of the addresses in the result."`
}

func (p viewDeckParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	missing := fault.NotFound.Errorf("deck %.60q of %.60q: does not exist", p.Slug, p.Username)
	// Folders of decks are readable by their owners only. The server looks the address up, and maySee then
	// decides with the caller's own rights.
	asked := c.Tx
	c.Tx = asked.As(deck.Behind(c))
	defer func() { c.Tx = asked }()
	d, err := deck.BySlug(c.Tx, p.Username, p.Slug)
	if err != nil || d == nil || d.IsTrashed() || !maySee(asked, d, c.As, p.Username) {
		return nil, cmp.Or[error](err, missing)
	}
	if p.Probe {
		return deck.Probed(d), nil
	}
	return deck.View{Base: p.Base}.Page(c, d, p.Username, fileKey(c, d))
}

// maySee reports whether somebody may look at a deck. A guest may only see what is public.
func maySee(tx *storage.Tx, d *storage.Doc, as *storage.Principal, owner string) bool {
	if as.Name == owner {
		return true
	}
	if as.Name == storage.Guest().Name {
		return storage.Prop[string](d, "deck:visibility") == "all"
	}
	return tx.Can(d, looking)
}

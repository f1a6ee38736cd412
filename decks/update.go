package decks

import (
	"maps"
	"strings"

	"catena/decks/deck"
	"catena/decks/field"
	"catena/engine"
)

// update is the operation for a table of fields.
func update(t field.Table) engine.Op {
	looks := engine.Param{
		Name: "looks", Type: "map",
		Doc: "Appearance of the deck: " + strings.Join(field.Names(t.Of(field.Appearance)), ", ") + "; omitted fields are unchanged.",
	}
	return engine.Op{
		Name: "Deck.Update", Label: "Update Deck", Category: deck.Category,
		Doc:     "Changes the given fields of one of the caller's decks, and its appearance, and returns the deck with all its fields.",
		Callers: engine.Anyone,
		Run:     engine.Declared(append(deck.Params(t), looks), updateParams.run),
	}
}

type updateParams struct {
	ID      int64  `json:"id" doc:"Number of the deck."`
	IfMatch string `json:"ifMatch" default:"" doc:"Entity tags, one of which must match the current version of the deck."`
	deck.View
}

func (p updateParams) run(c *engine.Ctx, _ engine.Void, params map[string]any) (map[string]any, error) {
	if _, err := p.Set(); err != nil {
		return nil, err
	}
	d, err := deck.Find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	// The entity tag comes before the fields: a client with an old copy should hear of that, and not of what
	// would be wrong with its change.
	if err := deck.MatchVersion(d, p.IfMatch); err != nil {
		return nil, err
	}
	in, err := deck.ReadInput(params)
	if err != nil {
		return nil, err
	}
	if err := in.MayShare(c); err != nil {
		return nil, err
	}
	given, _ := params["looks"].(map[string]any)
	looks, err := deck.ReadAppearance(given)
	if err != nil {
		return nil, err
	}
	maps.Copy(in, looks)
	d, applied, err := in.Change(c, d)
	if err != nil {
		return nil, err
	}
	return p.Changed(c, d, applied)
}

package decks

import (
	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
)

var history = engine.Op{
	Name: "Deck.History", Label: "Deck History", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc: "Returns a page of the stored versions of one of the caller's decks, newest first. Versions are created by Deck.KeepVersion, " +
		"before a restore, and before a change of HTML that had not changed for 15 minutes.",
	Run: engine.On(historyParams.run),
}

type historyParams struct {
	ID int64 `json:"id" doc:"Number of the deck."`
	deck.Paging
}

// run pages from the newest to the oldest version, while storage has them in the order in which they were
// made.
func (p historyParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if err := p.Check(); err != nil {
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
	data := []any{}
	from := len(all) - int(p.Offset())
	for i := from - 1; i >= 0 && len(data) < int(p.PerPage); i-- {
		data = append(data, shapeVersion(all[i]))
	}
	return p.Answer(data, len(all)), nil
}

func shapeVersion(v *storage.Doc) map[string]any {
	return map[string]any{
		"version": v.VersionLabel(), "title": v.Title(), "slide_count": storage.Prop[int64](v, "deck:slide_count"),
		"author": storage.Prop[string](v, "dc:lastContributor"), "updated_at": deck.InstantOf(v, "dc:modified"),
	}
}

var keepVersion = engine.Op{
	Name: "Deck.KeepVersion", Label: "Keep Deck Version", Category: deck.Category,
	Doc:     "Saves the current state of one of the caller's decks as a version, unless it is already saved, and returns the version.",
	Callers: engine.Anyone,
	Run:     engine.On(keepVersionParams.run),
}

type keepVersionParams struct {
	ID      int64  `json:"id" doc:"Number of the deck."`
	Comment string `json:"comment,omitzero" doc:"Comment on the version."`
}

func (p keepVersionParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := deck.Find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	v, err := c.Tx.CheckIn(d, false, p.Comment)
	if err == nil && v == nil {
		// CheckIn returns nothing if the deck has not changed since its last version, which is then the answer.
		v, err = c.Tx.LastVersion(d)
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"data": shapeVersion(v)}, nil
}

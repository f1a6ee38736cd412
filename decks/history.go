package decks

import (
	"time"

	"catena/engine"
	"catena/storage"
)

var history = engine.Op{
	Name: "Deck.History", Label: "Deck History", Category: category, Effect: engine.Reads,
	Doc: "Returns a page of the kept versions of one of the caller's decks, the newest first. A version is kept when Deck.KeepVersion says so, " +
		"before one is restored, and before the HTML changes that nobody had changed for a quarter of an hour.",
	Run: engine.On(historyParams.run),
}

type historyParams struct {
	ID int64 `json:"id" doc:"Number of the deck."`
	paging
}

func (p historyParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	d, err := find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	all, err := c.Tx.Versions(d)
	if err != nil {
		return nil, err
	}
	data := []any{}
	from := len(all) - int((p.Page-1)*p.PerPage)
	for i := from - 1; i >= 0 && len(data) < int(p.PerPage); i-- {
		data = append(data, shapeVersion(all[i]))
	}
	return p.answer(data, len(all)), nil
}

func shapeVersion(v *storage.Doc) map[string]any {
	return map[string]any{
		"version": v.VersionLabel(), "title": v.Title(), "slide_count": storage.Prop[int64](v, "deck:slide_count"),
		"author": storage.Prop[string](v, "dc:lastContributor"), "updated_at": instantOf(v, "dc:modified"),
	}
}

var keepVersion = engine.Op{
	Name: "Deck.KeepVersion", Label: "Keep Deck Version", Category: category,
	Doc: "Keeps one of the caller's decks as it is now as a version, unless it is kept already, and returns the version.",
	Run: engine.On(keepVersionParams.run),
}

type keepVersionParams struct {
	ID      int64  `json:"id" doc:"Number of the deck."`
	Comment string `json:"comment,omitzero" doc:"Why."`
}

func (p keepVersionParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	v, err := c.Tx.CheckIn(d, false, p.Comment)
	if err == nil && v == nil {
		v, err = c.Tx.LastVersion(d)
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"data": shapeVersion(v)}, nil
}

const keptApart = 15 * time.Minute

// keepBefore keeps a deck as a version before its HTML changes, unless it was changed a short
// while ago: then the change belongs to the ones before.
func keepBefore(c *engine.Ctx, d *storage.Doc) error {
	if c.Now.Sub(storage.Prop[time.Time](d, "dc:modified")) < keptApart || storage.Prop[int64](d, "deck:slide_count") == 0 {
		return nil
	}
	_, err := c.Tx.CheckIn(d, false, "")
	return err
}

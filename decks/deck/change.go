package deck

import (
	"time"

	"catena/engine"
	"catena/storage"
)

const keptApart = 15 * time.Minute

// keepBefore keeps a deck as a version before its HTML changes, unless it was changed a short
// while ago: then the change belongs to the ones before.
func keepBefore(c *engine.Ctx, d *storage.Doc) error {
	if storage.Recent(c.Now, storage.Prop[time.Time](d, "dc:modified"), keptApart) || storage.Prop[int64](d, "deck:slide_count") == 0 {
		return nil
	}
	_, err := c.Tx.CheckIn(d, false, "")
	return err
}

// Change writes the fields to a deck, and properties that callers do not set, and returns what
// became of them.
func (in Input) Change(c *engine.Ctx, d *storage.Doc) (now *storage.Doc, out Applied, err error) {
	if _, _, ok := in.HTML(); ok {
		if err := keepBefore(c, d); err != nil {
			return nil, out, err
		}
	}
	props := storage.Props{}
	if out, err = in.Apply(c, props); err != nil {
		return nil, out, err
	}
	before := Version(d)
	for xpath, v := range props {
		if err := d.Set(xpath, v); err != nil {
			return nil, out, err
		}
	}
	if now, err = c.Tx.Save(d, storage.SaveOptions{}); err != nil {
		return nil, out, err
	}
	if Version(now) != before {
		err = c.Tx.Fire(storage.Event{Name: "deck.updated", Doc: now, Extra: map[string]any{"deck": Number(now)}})
	}
	return now, out, err
}

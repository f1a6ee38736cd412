package document

import (
	"catena/engine"
	"catena/storage"
)

var trash = engine.Op{
	Name:     "Document.Trash",
	Label:    "Trash",
	Category: "Document",
	Doc:      "Moves the document with everything below it to the trash and returns it. Its life-cycle state is unchanged.",
	Callers:  engine.Anyone,
	Run:      engine.Each(trashParams.run),
}

type trashParams struct{}

func (trashParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// The permission needed is WriteLifeCycle, on this document only.
	return c.Tx.SetTrashed(d, true)
}

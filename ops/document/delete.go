package document

import (
	"catena/engine"
	"catena/storage"
)

var deleteDoc = engine.Op{
	Name:     "Document.Delete",
	Label:    "Delete",
	Category: "Document",
	Doc:      "Deletes the document permanently, with everything below it. Returns nothing for one document and an empty list for several.",
	Callers:  engine.Anyone,
	Run:      engine.Each(deleteParams.run),
}

type deleteParams struct{}

func (deleteParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// The result is a document that is nil, not void: void would return the input, which no longer exists.
	return nil, c.Tx.Delete(d)
}

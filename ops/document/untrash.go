package document

import (
	"catena/engine"
	"catena/storage"
)

var untrash = engine.Op{
	Name:     "Document.Untrash",
	Label:    "Untrash",
	Category: "Document",
	Doc:      "Takes the document with everything below it out of the trash and returns it.",
	Callers:  engine.Anyone,
	Run:      engine.Each(untrashParams.run),
}

type untrashParams struct{}

func (untrashParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return c.Tx.SetTrashed(d, false)
}

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
	// Folders above it that are in the trash come out, too: a document must not lie where nobody
	// sees it.
	return c.Tx.SetTrashed(d, false)
}

package document

import (
	"catena/engine"
	"catena/storage"
)

var lock = engine.Op{
	Name:     "Document.Lock",
	Label:    "Lock",
	Category: "Document",
	Doc:      "Locks the document for the caller, so that others cannot change it, and returns it. The owner may lock it again.",
	Callers:  engine.Anyone,
	Run:      engine.Each(lockParams.run),
}

type lockParams struct{}

func (lockParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// Locking again by the owner is not an error, so that a client that lost an answer can repeat the
	// call.
	return c.Tx.Lock(d)
}

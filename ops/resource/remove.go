package resource

import (
	"catena/engine"
	"catena/storage"
)

var remove = engine.Op{
	Name:     "Resource.Delete",
	Label:    "Delete",
	Category: "Resource",
	Doc:      "Deletes the document permanently, with everything below it, and returns nothing.",
	Callers:  engine.Anyone,
	Run:      engine.On(removeParams.run).As("document", "void"),
}

type removeParams struct{}

func (removeParams) run(c *engine.Ctx, d *storage.Doc) (any, error) {
	// Storage checks the permission. Moving to the trash is another operation.
	return nil, c.Tx.Delete(d)
}

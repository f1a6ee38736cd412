package document

import (
	"catena/engine"
	"catena/storage"
)

var unlock = engine.Op{
	Name:     "Document.Unlock",
	Label:    "Unlock",
	Category: "Document",
	Doc:      "Removes the lock and returns the document. Removing another user's lock requires the permission Unlock.",
	Callers:  engine.Anyone,
	Run:      engine.Each(unlockParams.run),
}

type unlockParams struct{}

func (unlockParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// Storage checks who may unlock: the owner, and users with the permission Unlock.
	return c.Tx.Unlock(d)
}

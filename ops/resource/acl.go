package resource

import (
	"catena/engine"
	"catena/storage"
)

var acl = engine.Op{
	Name:     "Resource.ACL",
	Label:    "Permissions",
	Category: "Resource",
	Doc:      "Returns the document's access control lists, its own first, then those it inherits.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(aclParams.run),
}

type aclParams struct{}

func (aclParams) run(c *engine.Ctx, d *storage.Doc) ([]storage.ACL, error) {
	// Storage decides who sees the lists of a document. Those that are inherited come with the
	// document they are inherited from.
	return c.Tx.ACLs(d)
}

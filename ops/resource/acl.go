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

func (aclParams) run(c *engine.Ctx, d *storage.Doc) (any, error) {
	return c.Tx.ACLs(d)
}

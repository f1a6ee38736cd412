package resource

import (
	"catena/engine"
	"catena/storage"
)

var acl = engine.Op{
	Name:     "Resource.ACL",
	Label:    "Permissions",
	Category: "Resource",
	Doc:      "Returns the document's lists of permissions, its own first, then what it inherits.",
	Effect:   engine.Reads,
	Run:      engine.On(aclParams.run),
}

type aclParams struct{}

func (aclParams) run(c *engine.Ctx, d *storage.Doc) (any, error) {
	return c.Tx.ACLs(d)
}

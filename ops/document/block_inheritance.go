package document

import (
	"catena/engine"
	"catena/storage"
)

var blockInheritance = engine.Op{
	Name:     "Document.BlockPermissionInheritance",
	Label:    "Block Permission Inheritance",
	Category: "Document",
	Doc:      "Blocks the inheritance of permissions at the document and returns it. The caller and administrators keep their permissions.",
	Callers:  engine.Anyone,
	Run:      engine.Each(blockInheritanceParams.run),
}

type blockInheritanceParams struct {
	ACL string `json:"acl" default:"local" values:"local" doc:"Name of the access control list that blocks the inheritance."`
}

func (p blockInheritanceParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	entries, err := entriesOf(c, d, p.ACL)
	if err != nil {
		return nil, err
	}
	// blocked leaves the caller's own permissions: without them the caller could not undo this.
	return c.Tx.SetACL(d, p.ACL, blocked(c, entries))
}

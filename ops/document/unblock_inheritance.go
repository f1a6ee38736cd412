package document

import (
	"slices"

	"catena/engine"
	"catena/storage"
)

var unblockInheritance = engine.Op{
	Name:     "Document.UnblockPermissionInheritance",
	Label:    "Unblock Permission Inheritance",
	Category: "Document",
	Doc:      "Lets the document inherit permissions again and returns it. Permissions granted when the inheritance was blocked are kept.",
	Callers:  engine.Anyone,
	Run:      engine.Each(unblockInheritanceParams.run),
}

type unblockInheritanceParams struct {
	ACL string `json:"acl" default:"local" values:"local" doc:"Name of the access control list that blocks the inheritance."`
}

func (p unblockInheritanceParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	entries, err := entriesOf(c, d, p.ACL)
	if err != nil {
		return nil, err
	}
	// The entries that blocked added for the caller and for administrators cannot be told from
	// entries that were granted on purpose, so they stay.
	return c.Tx.SetACL(d, p.ACL, slices.DeleteFunc(slices.Clone(entries), isBlock))
}

package document

import (
	"catena/engine"
	"catena/storage"
)

var removeACL = engine.Op{
	Name:     "Document.RemoveACL",
	Label:    "Remove ACL",
	Category: "Document",
	Doc:      "Removes one of the document's own access control lists, if it exists, and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(removeACLParams.run),
}

type removeACLParams struct {
	ACL string `json:"acl" doc:"Name of the list, for example local."`
}

func (p removeACLParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// There is nothing to remove, since that list is not stored with the document.
	if p.ACL == "inherited" {
		return d, nil
	}
	return c.Tx.SetACL(d, p.ACL, nil)
}

package document

import (
	"catena/engine"
	"catena/storage"
)

var addACE = engine.Op{
	Name:     "Document.AddACE",
	Aliases:  []string{"Document.SetACE"},
	Label:    "Set ACL",
	Category: "Document",
	Doc:      "Grants or denies a permission on the document and returns it. Unless overwrite is false, the entry replaces all entries of the document itself.",
	Callers:  engine.Anyone,
	Run:      engine.Each(addACEParams.run),
}

type addACEParams struct {
	Permission string `json:"permission" names:"permission" doc:"The permission, for example Read or ReadWrite."`
	User       string `json:"user" doc:"Name of the user or group."`
	ACL        string `json:"acl" default:"local" values:"local" doc:"Name of the access control list for the entry."`
	Grant      bool   `json:"grant" default:"true" values:"true" doc:"Whether to grant rather than deny."`
	Overwrite  bool   `json:"overwrite" default:"true" values:"true" doc:"Whether to replace all entries of the document itself."`
}

func (p addACEParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	lists, err := c.Tx.ACLs(d)
	if err != nil {
		return nil, err
	}
	entry := storage.ACE{User: p.User, Permission: p.Permission, Granted: p.Grant, Creator: c.As.Name}
	entries := []storage.ACE{entry}
	for _, list := range lists {
		switch {
		// It shows what comes from the folders above, and is not stored with the document.
		case list.Name == "inherited":
		case list.Name == p.ACL && !p.Overwrite:
			entries = append(list.Entries, entry)
		// Overwriting concerns all lists of the document: an entry in another list could still grant what is
		// replaced.
		case list.Name != p.ACL && p.Overwrite:
			if d, err = c.Tx.SetACL(d, list.Name, nil); err != nil {
				return nil, err
			}
		}
	}
	return c.Tx.SetACL(d, p.ACL, entries)
}

package document

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var removePermission = engine.Op{
	Name:     "Document.RemovePermission",
	Label:    "Remove Permission",
	Category: "Document",
	Doc:      "Removes all entries of a user, or the entry with an identifier, from one of the document's own access control lists and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(removePermissionParams.run),
}

type removePermissionParams struct {
	ACL  string `json:"acl" default:"local" doc:"Name of the list."`
	ID   string `json:"id,omitzero" doc:"Identifier of the entry: user:permission:granted:creator:begin:end."`
	User string `json:"user,omitzero" doc:"User or group to remove; overrides id."`
}

func (p removePermissionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if p.User == "" && p.ID == "" {
		return nil, fault.Invalid.Errorf("user: user or id is required").In("user")
	}
	// A user is removed with all entries, denials included: what remains then is what the folders
	// above say.
	doomed := func(a storage.ACE) bool { return a.User == p.User }
	if p.User == "" {
		id, err := canonicalID(p.ID)
		if err != nil {
			return nil, err
		}
		doomed = func(a storage.ACE) bool { return a.ID() == id }
	}
	entries, err := entriesOf(c, d, p.ACL)
	if err != nil {
		return nil, err
	}
	return c.Tx.SetACL(d, p.ACL, slices.DeleteFunc(slices.Clone(entries), doomed))
}

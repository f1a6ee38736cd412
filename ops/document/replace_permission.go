package document

import (
	"slices"
	"time"

	"catena/engine"
	"catena/storage"
)

var replacePermission = engine.Op{
	Name:     "Document.ReplacePermission",
	Label:    "Replace Permission",
	Category: "Document",
	Doc:      "Replaces the entry with an identifier by a grant and returns the document. Without such an entry, nothing changes.",
	Callers:  engine.Anyone,
	Run:      engine.Each(replacePermissionParams.run),
}

type replacePermissionParams struct {
	ID         string    `json:"id" doc:"Identifier of the entry: user:permission:granted:creator:begin:end."`
	Permission string    `json:"permission" names:"permission" doc:"The permission to grant instead."`
	Username   string    `json:"username" alias:"user" doc:"User or group that gets the permission."`
	ACL        string    `json:"acl" default:"local" values:"local" doc:"Name of the list."`
	Begin      time.Time `json:"begin,omitzero" doc:"When the grant begins."`
	Comment    string    `json:"comment,omitzero" doc:"Text for the notification."`
	End        time.Time `json:"end,omitzero" doc:"When the grant ends."`
	Notify     bool      `json:"notify" default:"false" doc:"Whether to notify the users who get the permission."`
}

func (p replacePermissionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	id, err := canonicalID(p.ID)
	if err != nil {
		return nil, err
	}
	if err := checkPeriod(p.Begin, p.End); err != nil {
		return nil, err
	}
	if err := knownName(c, p.Username); err != nil {
		return nil, err
	}
	entries, err := entriesOf(c, d, p.ACL)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(entries, func(a storage.ACE) bool { return a.ID() == id })
	// Somebody else may have removed it already. Adding the grant instead would give a permission
	// that nobody asked to add.
	if at < 0 {
		return d, nil
	}
	entries = slices.Clone(entries)
	// The new entry takes the position of the old one, since the order decides which entry matches first.
	entries[at] = storage.ACE{
		User: p.Username, Permission: p.Permission, Granted: true, Creator: c.As.Name,
		Begin: p.Begin, End: p.End, Notify: p.Notify, Comment: p.Comment,
	}
	return protect(c, d, p.ACL, entries, entries[at])
}

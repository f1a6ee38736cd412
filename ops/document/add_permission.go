package document

import (
	mailaddr "net/mail"
	"time"

	"catena/engine"
	"catena/engine/mail"
	"catena/storage"
	"catena/storage/fault"
)

var addPermission = engine.Op{
	Name:     "Document.AddPermission",
	Aliases:  []string{"Document.AddACL"},
	Label:    "Add Permission",
	Category: "Document",
	Doc:      "Grants a permission on the document to users and groups and returns it. An existing grant is not added again.",
	Callers:  engine.Anyone,
	Run:      engine.Each(addPermissionParams.run),
}

type addPermissionParams struct {
	Permission string    `json:"permission" names:"permission" doc:"The permission, for example Read or ReadWrite."`
	ACL        string    `json:"acl" default:"local" values:"local" doc:"Name of the access control list for the entries."`
	Begin      time.Time `json:"begin,omitzero" doc:"When the grant begins."`
	Block      bool      `json:"blockInheritance" default:"false" doc:"Block the inheritance of permissions first."`
	Comment    string    `json:"comment,omitzero" doc:"Text for the notification."`
	Email      string    `json:"email,omitzero" doc:"Email address of a person without an account who gets the permission until it ends."`
	End        time.Time `json:"end,omitzero" doc:"When the grant ends."`
	Notify     bool      `json:"notify" default:"false" doc:"Whether to notify the users who get the permission."`
	Username   string    `json:"username,omitzero" alias:"user" doc:"Name of the user or group."`
	Users      []any     `json:"users,omitzero" doc:"Names of several users and groups."`
}

func (p addPermissionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if err := checkPeriod(p.Begin, p.End); err != nil {
		return nil, err
	}
	names, err := p.names(c)
	if err != nil {
		return nil, err
	}
	entries, err := entriesOf(c, d, p.ACL)
	if err != nil {
		return nil, err
	}
	// What ends inheritance comes first, so that the new entries are placed before it (withEntry).
	if p.Block {
		entries = blocked(c, entries)
	}
	var added []storage.ACE
	for _, name := range names {
		added = append(added, storage.ACE{
			User: name, Permission: p.Permission, Granted: true, Creator: c.As.Name,
			Begin: p.Begin, End: p.End, Notify: p.Notify, Comment: p.Comment,
		})
		entries = withEntry(entries, added[len(added)-1])
	}
	return protect(c, d, p.ACL, entries, added...)
}

// protect stores the entries of a list, and notifies the users of the entries that were added, if that is
// asked for. Mail is a job of the same transaction: nobody is informed of a permission that was not stored.
func protect(c *engine.Ctx, d *storage.Doc, list string, entries []storage.ACE, added ...storage.ACE) (*storage.Doc, error) {
	d, err := c.Tx.SetACL(d, list, entries)
	for i := 0; err == nil && i < len(added); i++ {
		if added[i].Notify {
			err = mail.TellOfPermission(c.Tx, d, added[i])
		}
	}
	return d, err
}

// names returns whom the permission is for. Somebody who is known by an address alone becomes a transient user, whose permission has to end.
func (p addPermissionParams) names(c *engine.Ctx) ([]string, error) {
	names := make([]string, 0, len(p.Users)+1)
	for _, user := range p.Users {
		name, ok := user.(string)
		if !ok {
			return nil, fault.Invalid.Errorf("users: must be names, not %v", user).In("users")
		}
		names = append(names, name)
	}
	if p.Username != "" {
		names = append(names, p.Username)
	}
	if len(names) == 0 && p.Email != "" {
		if p.End.IsZero() {
			return nil, fault.Invalid.Errorf("end: is required for a permission by email").In("end")
		}
		// What is no address would get a permission that nobody can use, and a name that is written to mails and lists.
		if a, err := mailaddr.ParseAddress(p.Email); err != nil || a.Address != p.Email {
			return nil, fault.Invalid.Errorf("email: must be an address, not %q", p.Email).In("email")
		}
		return []string{"transient/" + p.Email}, nil
	}
	if len(names) == 0 {
		return nil, fault.Invalid.Errorf("username: user, users or email is required").In("username")
	}
	// A misspelt name would be stored without effect until somebody of that name is created, who would then
	// have the permission.
	for _, name := range names {
		if err := knownName(c, name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

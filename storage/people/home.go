package people

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
)

// Where personal workspaces are.
const (
	homeDomain = "default-domain"
	homeRoot   = "UserWorkspaces"
)

// Home returns the personal workspace of the principal, which nobody else sees but administrators. One
// that is not there is made if needed, else it is nil.
func Home(t *storage.Tx, needed bool) (*storage.Doc, error) {
	if t.Principal().System {
		return nil, fault.Invalid.Errorf("workspace: the server itself does not have one")
	}
	system := t.As(t.Repo().System())
	if err := t.Internal(row.Ordered{}).AheadPath("/" + homeDomain + "/" + homeRoot + "/" + homeName(t, t.Principal().Name) + "/Favorites"); err != nil {
		return nil, err
	}
	all, err := homes(system, needed)
	if err != nil || all == nil {
		return nil, err
	}
	own, err := system.Child(all, homeName(t, t.Principal().Name))
	if err == nil {
		return t.Reload(own)
	}
	if !fault.Is(err, fault.NotFound) || !needed {
		return nil, orNil(err)
	}
	if own, err = system.Create(all, "Workspace", homeName(t, t.Principal().Name), storage.Props{"dc:title": t.Principal().Name}); err != nil {
		return nil, err
	}
	if _, err = system.SetACL(own, "local", []storage.ACE{
		{User: t.Principal().Name, Permission: "Everything", Granted: true},
		{User: "Everyone", Permission: "Everything", Granted: false},
	}); err != nil {
		return nil, err
	}
	return t.Reload(own)
}

// homes is the folder of all personal workspaces, for the server; one that is not there is made if needed, else it is nil.
func homes(t *storage.Tx, needed bool) (*storage.Doc, error) {
	at, err := t.Root()
	if err != nil {
		return nil, err
	}
	if domain, err := t.Child(at, homeDomain); err == nil {
		at = domain
	} else if !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	return childOr(t, at, homeRoot, "UserWorkspacesRoot", "User workspaces", needed)
}

// vacateHome takes the personal workspace of a user who goes out of the way of another user of the name.
func vacateHome(t *storage.Tx, user string) error {
	system := t.As(t.Repo().System())
	all, err := homes(system, false)
	if err != nil || all == nil {
		return err
	}
	home, err := system.Child(all, homeName(t, user))
	if err != nil {
		return orNil(err)
	}
	return Vacate(t, home)
}

// goneMark ends the name of what was a folder of a user who is gone. No folder of a user is called so: what
// follows a % there is two hexadecimal digits.
const goneMark = "%gone"

// Vacate gives the folder of a user who goes to the administrators: its name becomes one that no user's folder
// has. Anyone who else was granted something within keeps it.
func Vacate(t *storage.Tx, folder *storage.Doc) error {
	server := t.Repo().System()
	server.Actor = t.Actor()
	system := t.As(server)
	parent, err := system.Parent(folder)
	if err != nil {
		return err
	}
	name := folder.Name()
	_, err = system.Move(folder, parent, cut(name, t.Repo().Limits().NameLength-len(goneMark))+goneMark)
	return err
}

// childOr returns a child; one that is not there is made if needed, else it is nil.
func childOr(t *storage.Tx, parent *storage.Doc, name, typeName, title string, needed bool) (*storage.Doc, error) {
	d, err := t.Child(parent, name)
	if !fault.Is(err, fault.NotFound) {
		return d, err
	}
	if !needed {
		return nil, nil //nolint:nilnil // there is none
	}
	return t.Create(parent, typeName, name, storage.Props{"dc:title": title})
}

// orNil drops the error that something is not there.
func orNil(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// homeName is the name of a user's workspace: different users have different ones.
func homeName(t *storage.Tx, user string) string {
	switch user {
	case ".", "..":
		return strings.ReplaceAll(user, ".", "%2E")
	}
	name := strings.NewReplacer("%", "%25", "/", "%2F").Replace(user)
	// Names of documents have no space around them: "bob " would get the workspace of "bob".
	if text := strings.TrimSpace(name); text != name {
		before, after, _ := strings.Cut(name, text)
		name = escaped(before) + text + escaped(after)
	}
	if most := t.Repo().Limits().NameLength; len(name) > most {
		sum := sha256.Sum256([]byte(user))
		mark := "%-" + hex.EncodeToString(sum[:16])
		name = cut(name, most-len(mark)) + mark
	}
	return name
}

// escaped is a text with each byte as two hexadecimal digits.
func escaped(s string) string {
	var out strings.Builder
	for _, b := range []byte(s) {
		fmt.Fprintf(&out, "%%%02X", b)
	}
	return out.String()
}

// cut shortens a name to so many bytes, between two characters.
func cut(name string, most int) string {
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:max(0, most)], "")
}

// profileName is the name of the document in a personal workspace that tells about its owner.
const profileName = "Profile"

// Profile returns the document that tells about a user, nil if there is none to be read.
func Profile(t *storage.Tx, user string) (*storage.Doc, error) {
	d, err := t.Doc(storage.Ref("/" + homeDomain + "/" + homeRoot + "/" + homeName(t, user) + "/" + profileName))
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
		return nil, nil
	}
	return d, err
}

package deck

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Home returns the folder of the caller's decks; nil if there is none and it is not to be
// made. Only its owner may see it.
func Home(c *engine.Ctx, needed bool) (*storage.Doc, error) {
	tx := c.Tx.As(c.Tx.Repo().System())
	own, err := HomeOf(tx, c.As.Name)
	if err != nil || own != nil || !needed {
		return own, err
	}
	root, err := tx.Root()
	if err != nil {
		return nil, err
	}
	all, err := tx.Child(root, Homes)
	if fault.Is(err, fault.NotFound) {
		all, err = tx.Create(root, "HiddenFolder", Homes, storage.Props{"dc:title": "Decks"})
	}
	if err != nil {
		return nil, err
	}
	if own, err = tx.Create(all, "HiddenFolder", homeName(c.As.Name), storage.Props{"dc:title": c.As.Name}); err != nil {
		return nil, err
	}
	return tx.SetACL(own, "local", []storage.ACE{
		{User: c.As.Name, Permission: "Everything", Granted: true},
		{User: "Everyone", Permission: "Everything", Granted: false},
	})
}

// HomeOf returns the folder of a user's decks for a transaction that may see it, nil if there
// is none.
func HomeOf(tx *storage.Tx, user string) (*storage.Doc, error) {
	if user == "" {
		return nil, nil
	}
	folder, err := tx.Doc(storage.Ref("/" + Homes + "/" + homeName(user)))
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return folder, err
}

// homeName is the name of a user's folder: different users have different ones.
func homeName(user string) string {
	switch user {
	case ".", "..":
		return strings.ReplaceAll(user, ".", "%2E")
	}
	name := url.PathEscape(user)
	if len(name) <= maxHomeName {
		return name
	}
	// Escaped, a character outside of ASCII has up to twelve bytes. The part that is cut off is told apart by its hash; an
	// escape that is cut in two is none, so no user has such a name as it is.
	sum := sha256.Sum256([]byte(user))
	return fmt.Sprintf("%s~%x", name[:maxHomeName-33], sum[:16])
}

// maxHomeName is how long the name of a home may be, in bytes. Names of users have up to 255 bytes, names of documents may
// have as many by default, and homes had no longer ones before.
const maxHomeName = 255

package decks

import (
	"net/url"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// home returns the folder of the caller's decks; nil if there is none and it is not to be
// made. Only its owner may see it.
func home(c *engine.Ctx, needed bool) (*storage.Doc, error) {
	tx := c.Tx.As(c.Tx.Repo().System())
	root, err := tx.Root()
	if err != nil {
		return nil, err
	}
	all, err := tx.Child(root, homes)
	if fault.Is(err, fault.NotFound) {
		if !needed {
			return nil, nil
		}
		all, err = tx.Create(root, "HiddenFolder", homes, storage.Props{"dc:title": "Decks"})
	}
	if err != nil {
		return nil, err
	}
	name := homeName(c.As.Name)
	own, err := tx.Child(all, name)
	if !fault.Is(err, fault.NotFound) {
		return own, err
	}
	if !needed {
		return nil, nil
	}
	if own, err = tx.Create(all, "HiddenFolder", name, storage.Props{"dc:title": c.As.Name}); err != nil {
		return nil, err
	}
	return tx.SetACL(own, "local", []storage.ACE{
		{User: c.As.Name, Permission: "Everything", Granted: true},
		{User: "Everyone", Permission: "Everything", Granted: false},
	})
}

// homeOf returns the folder of a user's decks for a transaction that may see it, nil if there
// is none.
func homeOf(tx *storage.Tx, user string) (*storage.Doc, error) {
	root, err := tx.Root()
	if err != nil {
		return nil, err
	}
	all, err := tx.Child(root, homes)
	if err == nil {
		all, err = tx.Child(all, homeName(user))
	}
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return all, err
}

// homeName is the name of a user's folder: different users have different ones.
func homeName(user string) string {
	switch user {
	case ".", "..":
		return strings.ReplaceAll(user, ".", "%2E")
	}
	return url.PathEscape(user)
}

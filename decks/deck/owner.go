package deck

import (
	"cmp"
	"net/url"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// OwnerName is whose deck a document is: the folder's it is in, or of a deck somewhere else
// whoever made it.
func OwnerName(tx *storage.Tx, d *storage.Doc) string {
	name, ok := strings.CutPrefix(d.Path(), "/"+Homes+"/")
	folder, _, inside := strings.Cut(name, "/")
	if user, err := url.PathUnescape(folder); ok && inside && err == nil {
		return user
	}
	return cmp.Or(storage.Prop[string](d, "dc:creator"), tx.Principal().Name)
}

// OwnerOf describes who a deck belongs to.
func OwnerOf(c *engine.Ctx, name string) (map[string]any, error) {
	u, err := people.Lookup(c.Tx, name)
	if fault.Is(err, fault.NotFound) {
		return map[string]any{"id": int64(0), "name": name, "username": name}, nil
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": u.ID, "name": FullName(u), "username": u.Username}, nil
}

// FullName is the name of a user as others see it.
func FullName(u *people.User) string {
	return cmp.Or(strings.TrimSpace(u.FirstName+" "+u.LastName), u.Username)
}

package deck

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// OwnerName is whose deck a document is: the folder's it is in, or of a deck somewhere else
// the one who made it.
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

// TeamGroup is the group of a team's members.
func TeamGroup(id int64) string { return "team-" + strconv.FormatInt(id, 10) }

// MayStill reports whether an owner may read a deck now, for a transaction that may read it: what
// was handed out for the owner ends with that.
func MayStill(tx *storage.Tx, d *storage.Doc, owner storage.Owned) bool {
	p, err := owner.Principal(tx)
	return err == nil && tx.As(p).Can(d, "Read")
}

package decks

import (
	"cmp"
	"net/url"
	"strings"

	"catena/decks/export"
	"catena/decks/file"
	"catena/storage"
	"catena/storage/fault"
)

// looking is the right to look at a deck. It is less than reading the document, which holds
// the speaker notes.
const looking = "RestrictedRead"

// reveal gives others the right to look at a deck, as its visibility says, and lists it for the
// owner's team.
func reveal(tx *storage.Tx, d *storage.Doc) error {
	var entries []storage.ACE
	switch storage.Prop[string](d, "deck:visibility") {
	case "all":
		entries = []storage.ACE{{User: "Everyone", Permission: looking, Granted: true}}
	case "team":
		u, err := tx.User(ownerName(tx, d))
		if err != nil {
			return err
		}
		if u.AccountType != "team" || u.TeamID == 0 {
			return errNoTeam()
		}
		entries = []storage.ACE{{User: teamGroup(u.TeamID), Permission: looking, Granted: true}}
	}
	if _, err := tx.SetACL(d, "visibility", entries); err != nil {
		return err
	}
	return placed(tx, d, false)
}

func errNoTeam() error {
	return fault.Denied.Errorf("visibility team: only team accounts have it").In("visibility").WithCode(fault.CodePlanRequired)
}

// ownerName is whose deck a document is: the folder's it is in, or of a deck somewhere else
// whoever made it.
func ownerName(tx *storage.Tx, d *storage.Doc) string {
	name, ok := strings.CutPrefix(d.Path(), "/"+homes+"/")
	folder, _, inside := strings.Cut(name, "/")
	if user, err := url.PathUnescape(folder); ok && inside && err == nil {
		return user
	}
	return cmp.Or(storage.Prop[string](d, "dc:creator"), tx.Principal().Name)
}

// forget removes the share links, the files and the pictures of a deck that is gone.
func forget(tx *storage.Tx, d *storage.Doc) error {
	tx = asSystem(tx)
	for _, raw := range tx.Table(linkTable).Scan(d.ID()+"/", d.ID()+"0", false, maxLinks) {
		l, err := readRow[link](raw)
		if err == nil {
			err = l.remove(tx, d)
		}
		if err != nil {
			return err
		}
	}
	if err := file.Remove(tx, d.ID()); err != nil {
		return err
	}
	return export.ForgetThumbs(tx, d.ID())
}

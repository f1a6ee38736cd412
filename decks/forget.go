package decks

import (
	"catena/decks/deck"
	"catena/decks/export"
	"catena/decks/file"
	"catena/decks/listing"
	"catena/decks/share"
	"catena/storage"
	"catena/storage/people"
)

// Owners keep the decks of users.
var Owners = []storage.Owner{{Name: "decks", Leave: leave}}

// leave ends what is kept for a user who is gone: the notices, that the team lists the decks, and that they
// are the user's. The order matters: the team is found by the folder, which Vacate takes from the user.
func leave(tx *storage.Tx, user string) error {
	if _, err := listing.TeamOf(deck.AsSystem(tx), user); err != nil { // while the folder is the user's
		return err
	}
	if err := share.ForgetNotices(tx, user); err != nil {
		return err
	}
	folder, err := deck.HomeOf(deck.AsSystem(tx), user)
	if err != nil || folder == nil {
		return err
	}
	return people.Vacate(tx, folder)
}

// forget removes the share links, the files and the pictures of a deck that is gone.
// Exports stay: their jobs forget them in time, and until then they are refused because the deck is gone.
func forget(tx *storage.Tx, d *storage.Doc) error {
	tx = deck.AsSystem(tx)
	if err := share.Forget(tx, d); err != nil {
		return err
	}
	if err := file.Remove(tx, d.ID()); err != nil {
		return err
	}
	return export.ForgetThumbs(tx, d.ID())
}

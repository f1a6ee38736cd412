package decks

import (
	"catena/decks/deck"
	"catena/decks/listing"
	"catena/storage"
	"catena/storage/people"
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
		u, err := people.Lookup(tx, deck.OwnerName(tx, d))
		if err != nil {
			return err
		}
		if u.AccountType != "team" || u.TeamID == 0 {
			return deck.ErrNoTeam()
		}
		entries = []storage.ACE{{User: deck.TeamGroup(u.TeamID), Permission: looking, Granted: true}}
	}
	// For "self" there are no entries, which withdraws those of the visibility before.
	if _, err := tx.SetACL(d, "visibility", entries); err != nil {
		return err
	}
	return listing.Placed(tx, d, false)
}

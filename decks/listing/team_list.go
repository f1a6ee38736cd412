package listing

import (
	"net/url"
	"strings"

	"catena/decks/deck"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// The decks that are for a team or for everybody are rows of the owner's team, in the order of
// their numbers and counted like the decks of a folder: a page of them costs the same however
// many members and decks the team has.
const (
	teamDeckTable     = "team-decks"       // the team's group "/" number: document of the deck
	deckPositionTable = "team-deck-places" // document: key in teamDeckTable
	teamOwnerTable    = "team-deck-owners" // user: the team that the user's decks are listed for
)

// Placed brings the place of a deck in its owner's team's list up to date.
func Placed(tx *storage.Tx, d *storage.Doc, gone bool) error {
	tx = deck.AsSystem(tx)
	owner, ok := homeUser(d)
	if gone || !ok || d.IsTrashed() || storage.Prop[string](d, "deck:visibility") == "self" {
		return relist(tx, d, "")
	}
	team, err := TeamOf(tx, owner)
	switch {
	case err != nil:
		return err
	case team == 0:
		return relist(tx, d, "")
	}
	return relist(tx, d, deck.ListingKey(deck.TeamGroup(team), deck.Number(d)))
}

// homeUser is whose folder of decks a deck is in.
// Only decks directly in the folder count: one that was moved into a folder below is not listed for the team.
func homeUser(d *storage.Doc) (string, bool) {
	at, ok := strings.CutPrefix(d.Path(), "/"+deck.Homes+"/")
	folder, name, inside := strings.Cut(at, "/")
	user, err := url.PathUnescape(folder)
	return user, ok && inside && err == nil && !strings.Contains(name, "/")
}

// relist lists a deck under a key, and no longer under the one it had.
func relist(tx *storage.Tx, d *storage.Doc, key string) error {
	var had string
	if _, err := tx.Table(deckPositionTable).Get(d.ID(), &had); err != nil || had == key {
		return err
	}
	changes := map[string]counts{}
	if had != "" {
		if err := tx.Table(teamDeckTable).Delete(had); err != nil {
			return err
		}
		group, _, _ := strings.Cut(had, "/")
		changes[group] = counts{Active: -1}
	}
	table := tx.Table(deckPositionTable)
	if key == "" {
		if err := table.Delete(d.ID()); err != nil {
			return err
		}
	} else {
		if err := table.Put(d.ID(), key); err != nil {
			return err
		}
		if err := tx.Table(teamDeckTable).Put(key, d.ID()); err != nil {
			return err
		}
		group, _, _ := strings.Cut(key, "/")
		changes[group] = counts{Active: changes[group].Active + 1}
	}
	if err := count(tx, d, changes); err != nil {
		return err
	}
	return reblock(tx, ByTeam, had, key)
}

// TeamOf returns the team whose list has a user's decks, after putting them there if the user
// has joined or left a team since.
func TeamOf(tx *storage.Tx, user string) (int64, error) {
	now := int64(0)
	u, err := people.Lookup(tx, user)
	switch {
	case err == nil:
		now = u.TeamID
	case !fault.Is(err, fault.NotFound):
		return 0, err
	}
	table, had := tx.Table(teamOwnerTable), int64(0)
	if _, err := table.Get(user, &had); err != nil || had == now {
		return now, err
	}
	// The row is written before the decks are placed: Placed calls this
	// function for each of them, and must find nothing left to do.
	if now == 0 {
		err = table.Delete(user)
	} else {
		err = table.Put(user, now)
	}
	if err != nil {
		return 0, err
	}
	folder, err := deck.HomeOf(tx, user)
	if err != nil || folder == nil {
		return now, err
	}
	return now, replace(tx, folder.ID())
}

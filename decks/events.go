package decks

import (
	"slices"
	"strings"

	"catena/decks/deck"
	"catena/decks/listing"
	"catena/storage"
)

// Listen keeps the rules of decks also where they are changed as documents: HTML is made
// harmless before it is written, every deck has a number and an address of its own, its
// visibility is what its permissions say, and what belongs to a deleted deck goes with it. It
// is called once, before the repository is used.
func Listen(r *storage.Repo) { r.OnEvent(heard) }

// heard dispatches an event. Versions and proxies are not decks of their own. An event of a user, which has
// no document, brings the lists of the user's team up to date.
func heard(tx *storage.Tx, e storage.Event) error {
	if e.Doc == nil && strings.HasPrefix(e.Name, "user_") {
		name, _ := e.Extra["id"].(string)
		_, err := listing.TeamOf(deck.AsSystem(tx), name)
		return err
	}
	if e.Doc == nil || e.Doc.IsProxy() || e.Doc.IsVersion() {
		return nil
	}
	if e.Doc.Type().Name != "Deck" {
		return below(tx, e.Doc, e)
	}
	if react := reactions[e.Name]; react != nil {
		return react(tx, e.Doc, e)
	}
	return nil
}

// reactions are what is done about the events of a deck, by name of the event. They run in the transaction of
// the change, so a reaction that fails undoes it. Those before a change may change the document; those after
// it write what stands beside it: the lists, the counts, the permissions.
var reactions = map[string]func(tx *storage.Tx, d *storage.Doc, e storage.Event) error{
	"aboutToCreate":              aboutToCreate,
	"beforeDocumentModification": aboutToModify,
	"beforeRestoringDocument":    func(tx *storage.Tx, d *storage.Doc, _ storage.Event) error { return remember(tx, d) },
	"documentCreated":            created,
	"documentCreatedByCopy":      copied,
	"documentModified":           modified,
	"documentMoved":              moved,
	"documentRemoved":            removed,
	"documentRestored":           func(tx *storage.Tx, d *storage.Doc, _ storage.Event) error { return remind(tx, d) },
	"documentTrashed": func(tx *storage.Tx, d *storage.Doc, _ storage.Event) error {
		return setTrashedAt(tx, d, tx.Now())
	},
	"documentUntrashed": func(tx *storage.Tx, d *storage.Doc, _ storage.Event) error {
		return setTrashedAt(tx, d, nil)
	},
}

// aboutToCreate also sees decks that were not created by Deck.Create, such as imported documents: they get a
// number, and their HTML is cleaned.
func aboutToCreate(tx *storage.Tx, d *storage.Doc, _ storage.Event) error {
	if deck.Number(d) == 0 {
		if err := newNumber(tx, d); err != nil {
			return err
		}
	}
	if _, err := listing.Relist(d); err != nil {
		return err
	}
	return purify(tx, d)
}

func aboutToModify(tx *storage.Tx, d *storage.Doc, _ storage.Event) error {
	if err := stay(tx, d); err != nil {
		return err
	}
	return purify(tx, d)
}

func created(tx *storage.Tx, d *storage.Doc, _ storage.Event) error {
	if err := listing.Recount(tx, d, [2]string{}, false); err != nil {
		return err
	}
	if storage.Prop[string](d, "deck:visibility") == "self" {
		return nil
	}
	return reveal(tx, d)
}

// modified follows the visibility: permissions of the document are derived from it and never set by
// themselves.
func modified(tx *storage.Tx, d *storage.Doc, e storage.Event) error {
	if !slices.Contains(e.Changed, "deck:visibility") {
		return nil
	}
	return reveal(tx, d)
}

// copied gives a copy files, a number and a place in the lists of its own.
func copied(tx *storage.Tx, d *storage.Doc, _ storage.Event) error {
	// The files come first: they are found by the number that the copy still shares with the first deck.
	if err := copyFiles(tx, d); err != nil {
		return err
	}
	if err := newNumber(tx, d); err != nil {
		return err
	}
	if _, err := listing.Relist(d); err != nil {
		return err
	}
	if err := deck.Keep(tx, d); err != nil {
		return err
	}
	if err := listing.Recount(tx, d, [2]string{}, false); err != nil {
		return err
	}
	return listing.Placed(tx, d, false)
}

// moved gives a deck a slug that is free among the decks of where it is now.
func moved(tx *storage.Tx, d *storage.Doc, _ storage.Event) error {
	slug, err := deck.FreeSlugIn(tx, d, storage.Prop[string](d, "deck:slug"))
	if err != nil {
		return err
	}
	if err := d.Set("deck:slug", slug); err != nil {
		return err
	}
	return listing.Relisted(tx, d)
}

// The time is kept because decks are listed in the order in which they were trashed.
func setTrashedAt(tx *storage.Tx, d *storage.Doc, at any) error {
	if err := d.Set("deck:trashed_at", at); err != nil {
		return err
	}
	return listing.Relisted(tx, d)
}

// removed takes a deck that is erased out of the lists and the counts it was in.
func removed(tx *storage.Tx, d *storage.Doc, _ storage.Event) error {
	if err := listing.Recount(tx, d, [2]string{storage.Prop[string](d, "deck:listing"), storage.Prop[string](d, "deck:binned")}, true); err != nil {
		return err
	}
	if err := listing.Placed(tx, d, true); err != nil {
		return err
	}
	return forget(tx, d)
}

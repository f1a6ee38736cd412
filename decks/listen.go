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
		return below(tx, e.Doc, e.Name)
	}
	d := e.Doc
	switch e.Name {
	case "aboutToCreate":
		if deck.Number(d) == 0 {
			if err := newNumber(tx, d); err != nil {
				return err
			}
		}
		if _, err := listing.Relist(d); err != nil {
			return err
		}
		return purify(tx, d)
	case "beforeDocumentModification":
		if err := stay(tx, d); err != nil {
			return err
		}
		return purify(tx, d)
	case "documentCreated":
		if err := listing.Recount(tx, d, [2]string{}, false); err != nil {
			return err
		}
		if storage.Prop[string](d, "deck:visibility") != "self" {
			return reveal(tx, d)
		}
	case "documentModified":
		if slices.Contains(e.Changed, "deck:visibility") {
			return reveal(tx, d)
		}
	default:
		return moved(tx, d, e.Name)
	}
	return nil
}

// moved hears of decks that are somewhere else now.
func moved(tx *storage.Tx, d *storage.Doc, event string) error {
	switch event {
	case "documentCreatedByCopy":
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
	case "documentMoved":
		slug, err := deck.FreeSlugIn(tx, d, storage.Prop[string](d, "deck:slug"))
		if err == nil {
			err = d.Set("deck:slug", slug)
		}
		if err != nil {
			return err
		}
		return listing.Relisted(tx, d)
	case "beforeRestoringDocument":
		return remember(tx, d)
	case "documentRestored":
		return remind(tx, d)
	case "documentTrashed":
		if err := d.Set("deck:trashed_at", tx.Now()); err != nil {
			return err
		}
		return listing.Relisted(tx, d)
	case "documentUntrashed":
		if err := d.Set("deck:trashed_at", nil); err != nil {
			return err
		}
		return listing.Relisted(tx, d)
	case "documentRemoved":
		if err := listing.Recount(tx, d, [2]string{storage.Prop[string](d, "deck:listing"), storage.Prop[string](d, "deck:binned")}, true); err != nil {
			return err
		}
		if err := listing.Placed(tx, d, true); err != nil {
			return err
		}
		return forget(tx, d)
	}
	return nil
}

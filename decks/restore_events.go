package decks

import (
	"time"

	"catena/decks/deck"
	"catena/decks/listing"
	"catena/storage"
)

// restoreTable holds, while a deck is restored, what is no matter of its versions.
const restoreTable = "deck-restores"

// lasting is what the versions of a deck do not decide: its published
// addresses, who may see it, and whether it is in the trash.
type lasting struct {
	Number           int64
	Slug, Visibility string
	Trashed          time.Time `json:",omitzero"`
}

// remember notes what a deck keeps when a version of it is restored.
func remember(tx *storage.Tx, d *storage.Doc) error {
	return deck.AsSystem(tx).Table(restoreTable).Put(d.ID(), lasting{
		Number: deck.Number(d), Slug: storage.Prop[string](d, "deck:slug"), Visibility: storage.Prop[string](d, "deck:visibility"),
		Trashed: storage.Prop[time.Time](d, "deck:trashed_at"),
	})
}

// remind gives a restored deck back what it keeps.
func remind(tx *storage.Tx, d *storage.Doc) error {
	var was lasting
	table := deck.AsSystem(tx).Table(restoreTable)
	// The row lives from the event before the restore to the one after it. Both are in one transaction, so a
	// restore that fails leaves none.
	if ok, err := table.Get(d.ID(), &was); err != nil || !ok {
		return err
	}
	// nil removes the property; a zero time would be kept as a date.
	var trashed any
	if !was.Trashed.IsZero() {
		trashed = was.Trashed
	}
	for xpath, v := range map[string]any{
		"deck:number": was.Number, "deck:slug": was.Slug, "deck:visibility": was.Visibility, "deck:trashed_at": trashed,
	} {
		if err := d.Set(xpath, v); err != nil {
			return err
		}
	}
	if _, err := listing.Relist(d); err != nil {
		return err
	}
	if err := table.Delete(d.ID()); err != nil {
		return err
	}
	return deck.Keep(tx, d)
}

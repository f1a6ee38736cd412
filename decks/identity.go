package decks

import (
	"cmp"

	"catena/decks/deck"
	"catena/decks/html"
	"catena/decks/listing"
	"catena/storage"
	"catena/storage/fault"
)

// stay keeps what a deck is found by as it is, whatever was set: addresses with its number are published. A
// slug that changes has to be free in its folder.
func stay(tx *storage.Tx, d *storage.Doc) error {
	stored, err := d.Stored("deck:number")
	if err != nil {
		return err
	}
	if had, _ := stored.(int64); had != 0 && had != deck.Number(d) {
		return fault.Invalid.Errorf("deck %d: its number cannot be changed", had).In("deck:number")
	}
	if slug := storage.Prop[string](d, "deck:slug"); storage.Prop[string](d, "deck:place") != d.ParentID()+"/"+slug {
		free, err := deck.FreeSlugIn(tx, d, slug)
		if err != nil {
			return err
		}
		if free != slug {
			return fault.Exists.Errorf("slug %.60q: is taken or invalid; %s is available", slug, free).In("deck:slug")
		}
	}
	_, err = listing.Relist(d)
	return err
}

// newNumber gives a deck a number and an address that no other has.
func newNumber(tx *storage.Tx, d *storage.Doc) error {
	n, err := tx.Next("decks")
	if err != nil {
		return err
	}
	if err := d.Set("deck:number", n); err != nil {
		return err
	}
	slug, err := deck.FreeSlugIn(tx, d, cmp.Or(d.Title(), d.Name()))
	if err != nil {
		return err
	}
	return d.Set("deck:slug", slug)
}

// purify makes HTML harmless that did not come through here, and notes what is in it. HTML that bears the
// mark of the present rules (deck.CleanMark) is not read again.
func purify(tx *storage.Tx, d *storage.Doc) error {
	b, err := d.Blob("deck:html")
	if err != nil || b == nil || deck.IsClean(tx, d, b) {
		return err
	}
	text, err := tx.Bytes(b, html.MaxBytes)
	if err != nil {
		return err
	}
	props := storage.Props{}
	// ApplyHTML gives all properties that follow from the HTML, so that they
	// agree with it: the count of slides, for example.
	if _, err := (deck.Input{"data": string(text)}).ApplyHTML(tx, props); err != nil {
		return err
	}
	for xpath, v := range props {
		if err := d.Set(xpath, v); err != nil {
			return err
		}
	}
	return nil
}

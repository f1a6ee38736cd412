package decks

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"catena/decks/html"
	"catena/storage"
	"catena/storage/fault"
)

// stay keeps what a deck is found by as it is, whatever was set. A slug that changes has to be
// free.
func stay(tx *storage.Tx, d *storage.Doc) error {
	stored, err := d.Stored("deck:number")
	if err != nil {
		return err
	}
	if had, _ := stored.(int64); had != 0 && had != number(d) {
		return fault.Invalid.Errorf("deck %d: its number stays", had).In("deck:number")
	}
	if slug := storage.Prop[string](d, "deck:slug"); storage.Prop[string](d, "deck:place") != d.ParentID()+"/"+slug {
		free, err := freeSlugIn(tx, d, slug)
		if err != nil {
			return err
		}
		if free != slug {
			return fault.Exists.Errorf("slug %.60q: is taken, or no slug; %s is free", slug, free).In("deck:slug")
		}
	}
	_, err = relist(d)
	return err
}

// asSystem is the transaction of the server, acting for whoever asks.
func asSystem(tx *storage.Tx) *storage.Tx {
	system := tx.Repo().System()
	system.Actor = cmp.Or(tx.Principal().Actor, tx.Principal().Name)
	return tx.As(system)
}

// keep saves what the service itself notes on a deck.
func keep(tx *storage.Tx, d *storage.Doc) error {
	_, err := asSystem(tx).Save(d, storage.SaveOptions{Quiet: true})
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
	slug, err := freeSlugIn(tx, d, cmp.Or(d.Title(), d.Name()))
	if err != nil {
		return err
	}
	return d.Set("deck:slug", slug)
}

// freeSlugIn returns a slug for a deck that no other in its folder has.
func freeSlugIn(tx *storage.Tx, d *storage.Doc, title string) (string, error) {
	return freeSlug(asSystem(tx), d.ParentID(), title, d.ID())
}

// purify makes HTML harmless that did not come through here, and notes what is in it.
func purify(tx *storage.Tx, d *storage.Doc) error {
	b, err := d.Blob("deck:html")
	if err != nil || b == nil || hmac.Equal([]byte(storage.Prop[string](d, "deck:clean")), []byte(cleanMark(tx.Repo(), b))) {
		return err
	}
	text, err := tx.Bytes(b, html.MaxBytes)
	if err != nil {
		return err
	}
	f := fields{}
	src := string(text)
	f.Data = &src
	props := storage.Props{}
	if _, err := f.applyHTML(tx, props); err != nil {
		return err
	}
	for xpath, v := range props {
		if err := d.Set(xpath, v); err != nil {
			return err
		}
	}
	return nil
}

// cleanMark is what deck:clean holds for HTML that was made harmless here.
func cleanMark(r *storage.Repo, b *storage.Blob) string {
	m := hmac.New(sha256.New, r.Secret("deck clean "+html.Rules))
	m.Write([]byte(b.Digest))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:24])
}

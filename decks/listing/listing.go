package listing

import (
	"fmt"
	"strings"
	"time"

	"catena/decks/deck"
	"catena/storage"
)

// Four properties are there to be found by: place is a deck's folder and slug, listing its
// folder and number, public the same for decks that everyone may see, binned its folder and
// when it was put in the trash. A deck has listing or binned.

// binned is FOLDER/MILLISECONDS/NUMBER with fixed widths, so that text order is the order of trashing; the
// number tells decks of one millisecond apart.
func binned(folder string, at time.Time, n int64) string {
	return fmt.Sprintf("%s/%015d/%019d", folder, at.UnixMilli(), n)
}

// Relist writes the properties a deck is found by where it is now, and returns those it had.
func Relist(d *storage.Doc) (was [2]string, err error) {
	was = [2]string{storage.Prop[string](d, "deck:listing"), storage.Prop[string](d, "deck:binned")}
	folder := d.ParentID()
	var list, public, bin any
	if d.IsTrashed() {
		bin = binned(folder, storage.Prop[time.Time](d, "deck:trashed_at"), deck.Number(d))
	} else {
		list = deck.ListingKey(folder, deck.Number(d))
		if storage.Prop[string](d, "deck:visibility") == "all" {
			public = list
		}
	}
	for _, now := range [...]struct {
		xpath string
		value any
	}{{"deck:place", folder + "/" + storage.Prop[string](d, "deck:slug")}, {"deck:listing", list}, {"deck:public", public}, {"deck:binned", bin}} {
		if old, err := d.Get(now.xpath); err == nil && old == now.value {
			continue
		}
		if err := d.Set(now.xpath, now.value); err != nil {
			return was, err
		}
	}
	return was, nil
}

// Recount takes a deck out of the counts it was in, and into those it is in now.
// The pair was is what Relist returned: the listing and the binned key
// before the change. Each names its folder up to the slash.
func Recount(tx *storage.Tx, d *storage.Doc, was [2]string, gone bool) error {
	is := [2]string{storage.Prop[string](d, "deck:listing"), storage.Prop[string](d, "deck:binned")}
	if gone {
		is = [2]string{}
	}
	changes := map[string]counts{}
	add := func(keys [2]string, n int64) {
		for i, key := range keys {
			folder, _, ok := strings.Cut(key, "/")
			if !ok {
				continue
			}
			c := changes[folder]
			if i == 0 {
				c.Active += n
			} else {
				c.Trashed += n
			}
			changes[folder] = c
		}
	}
	add(was, -1)
	add(is, 1)
	if err := count(tx, d, changes); err != nil {
		return err
	}
	if err := reblock(tx, byListing, was[0], is[0]); err != nil {
		return err
	}
	return reblock(tx, byBinned, was[1], is[1])
}

// Relisted brings all of it up to date after a deck moved, or went to the trash or out of it.
func Relisted(tx *storage.Tx, d *storage.Doc) error {
	was, err := Relist(d)
	if err != nil {
		return err
	}
	if err := deck.Keep(tx, d); err != nil {
		return err
	}
	if err := Recount(tx, d, was, false); err != nil {
		return err
	}
	return Placed(tx, d, false)
}

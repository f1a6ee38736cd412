package deck

import (
	"fmt"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// Live leaves out versions and proxies of decks.
const Live = " AND ecm:isVersion = 0 AND ecm:isProxy = 0"

// Find returns the caller's deck of a number. A deck of somebody else does not exist.
func Find(c *engine.Ctx, number int64, trashed bool) (*storage.Doc, error) {
	missing := func() error { return fault.NotFound.Errorf("deck %d: does not exist", number) }
	folder, err := Home(c, false)
	if err != nil {
		return nil, err
	}
	if folder == nil {
		return nil, missing()
	}
	d, err := search.One(c.Tx, "deck:listing", ListingKey(folder.ID(), number))
	if err == nil && d == nil && trashed {
		d, err = trashedDeck(c.Tx, folder.ID(), number)
	}
	if err == nil && d == nil {
		err = missing()
	}
	return d, err
}

// trashedDeck returns the deck of a number if it is in the trash, nil if there is none.
func trashedDeck(tx *storage.Tx, folder string, number int64) (*storage.Doc, error) {
	page, err := search.Query(tx, "SELECT * FROM Deck WHERE deck:number = ? AND ecm:parentId = ?"+Live, search.Options{
		Args: []any{number, folder}, PageOptions: storage.PageOptions{Limit: 1, CountLimit: -1},
	})
	if err != nil || len(page.Docs) == 0 {
		return nil, err
	}
	return page.Docs[0], nil
}

// BySlug returns the deck of a user with a slug for a transaction that may see it, nil if there is none.
func BySlug(tx *storage.Tx, user, slug string) (*storage.Doc, error) {
	folder, err := HomeOf(tx, user)
	if err != nil || folder == nil {
		return nil, err
	}
	return deckAt(tx, folder.ID(), slug)
}

// deckAt returns the deck with a slug in a folder, nil if there is none.
func deckAt(tx *storage.Tx, folder, slug string) (*storage.Doc, error) {
	return search.One(tx, "deck:place", folder+"/"+slug)
}

// ListingKey is where a deck stands in the order of a folder's or a team's decks.
func ListingKey(folder string, n int64) string { return fmt.Sprintf("%s/%019d", folder, n) }

package listing

import (
	"catena/decks/deck"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// replace brings the places of all decks of a folder up to date.
func replace(tx *storage.Tx, folder string) error {
	below := folder + "0"
	for {
		// Pages go down by the listing key, which placing a deck does not change, so none is met twice.
		page, err := search.Query(tx, "SELECT * FROM Deck WHERE deck:listing >= ? AND deck:listing < ?"+deck.Live+
			" AND deck:visibility IN ('all', 'team') ORDER BY deck:listing DESC", search.Options{
			Args: []any{folder + "/", below}, PageOptions: storage.PageOptions{Limit: deck.MaxPerPage, CountLimit: -1},
		})
		if err != nil {
			return err
		}
		for _, d := range page.Docs {
			if err := Placed(tx, d, false); err != nil {
				return err
			}
			below = storage.Prop[string](d, byListing)
		}
		if len(page.Docs) < deck.MaxPerPage {
			return nil
		}
	}
}

// TeamPage returns the page of a team's decks, last first, and how many there are.
func TeamPage(p deck.Paging, tx *storage.Tx, id int64) (storage.Docs, int64, error) {
	if err := p.Check(); err != nil {
		return nil, 0, err
	}
	l := List{ByTeam, deck.TeamGroup(id)}
	total, err := counted(tx, l.Folder)
	if err != nil {
		return nil, 0, err
	}
	if p.Offset() >= total.Active {
		return nil, total.Active, nil
	}
	below, offset, err := l.Seek(tx, total.Active, p.Offset())
	if err != nil {
		return nil, 0, err
	}
	refs := make(storage.Refs, 0, p.PerPage)
	for _, raw := range tx.Table(teamDeckTable).Scan(l.Folder+"/", below, true, int(offset+p.PerPage)) {
		if offset--; offset >= 0 {
			continue
		}
		ref, err := deck.ReadRow[storage.Ref](raw)
		if err != nil {
			return nil, 0, fault.Internal.Errorf("deck of team %d: %w", id, err)
		}
		refs = append(refs, ref)
	}
	docs, err := tx.Docs(refs)
	return docs, total.Active, err
}

// TeamDeck returns the deck of a number that is in a team's list.
// The key is the number's place in the list, so a deck that is not shared with the team is not found.
func TeamDeck(tx *storage.Tx, team, number int64) (*storage.Doc, error) {
	var ref storage.Ref
	ok, err := tx.Table(teamDeckTable).Get(deck.ListingKey(deck.TeamGroup(team), number), &ref)
	if err == nil && !ok {
		err = fault.NotFound.Errorf("deck %d: does not exist", number)
	}
	if err != nil {
		return nil, err
	}
	return tx.Doc(ref)
}

package decks

import (
	"catena/storage"
	"catena/storage/fault"
)

// replace brings the places of all decks of a folder up to date.
func replace(tx *storage.Tx, folder string) error {
	below := folder + "0"
	for {
		page, err := tx.Query("SELECT * FROM Deck WHERE deck:listing >= ? AND deck:listing < ?"+live+
			" AND deck:visibility IN ('all', 'team') ORDER BY deck:listing DESC", storage.QueryOptions{
			Args: []any{folder + "/", below}, PageOptions: storage.PageOptions{Limit: maxPerPage, CountLimit: -1},
		})
		if err != nil {
			return err
		}
		for _, d := range page.Docs {
			if err := placed(tx, d, false); err != nil {
				return err
			}
			below = storage.Prop[string](d, byListing)
		}
		if len(page.Docs) < maxPerPage {
			return nil
		}
	}
}

// team returns the page of a team's decks, the last first, and how many there are.
func (p paging) team(tx *storage.Tx, id int64) (storage.Docs, int64, error) {
	if err := p.check(); err != nil {
		return nil, 0, err
	}
	l := deckList{byTeam, teamGroup(id)}
	total, err := counted(tx, l.folder)
	if err != nil {
		return nil, 0, err
	}
	below, offset, err := l.leap(tx, total.Active, (p.Page-1)*p.PerPage)
	if err != nil {
		return nil, 0, err
	}
	refs := make(storage.Refs, 0, p.PerPage)
	for _, raw := range tx.Table(teamDeckTable).Scan(l.folder+"/", below, true, int(offset+p.PerPage)) {
		if offset--; offset >= 0 {
			continue
		}
		ref, err := readRow[storage.Ref](raw)
		if err != nil {
			return nil, 0, fault.Internal.Errorf("deck of team %d: %w", id, err)
		}
		refs = append(refs, ref)
	}
	docs, err := tx.Docs(refs)
	return docs, total.Active, err
}

// teamDeck returns the deck of a number that is in a team's list.
func teamDeck(tx *storage.Tx, team, number int64) (*storage.Doc, error) {
	var ref storage.Ref
	ok, err := tx.Table(teamDeckTable).Get(listed(teamGroup(team), number), &ref)
	if err == nil && !ok {
		err = fault.NotFound.Errorf("deck %d: does not exist", number)
	}
	if err != nil {
		return nil, err
	}
	return tx.Doc(ref)
}

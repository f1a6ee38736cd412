package decks

import (
	"catena/decks/deck"
	"catena/storage"
	"catena/storage/search"
)

// spreading are the events of a folder that also happen to the decks in it.
var spreading = map[string]bool{"documentCreatedByCopy": true, "documentTrashed": true, "documentUntrashed": true}

// below has the decks in a folder hear what happened to the folder. It reads pages of deck.MaxPerPage in the
// order of identifiers, which the reactions do not change, so that no deck is skipped while the result
// changes. The work is in proportion to the decks in the folder.
func below(tx *storage.Tx, folder *storage.Doc, e storage.Event) error {
	event := e.Name
	if !spreading[event] || !folder.IsFolder() {
		return nil
	}
	system := deck.AsSystem(tx)
	for at := 0; ; at += deck.MaxPerPage {
		page, err := search.Query(system, "SELECT * FROM Deck WHERE ecm:ancestorId = ?"+deck.Live+" ORDER BY ecm:uuid", search.Options{
			Args: []any{folder.ID()}, PageOptions: storage.PageOptions{Offset: at, Limit: deck.MaxPerPage, CountLimit: -1},
		})
		if err != nil {
			return err
		}
		for _, d := range page.Docs {
			if d.IsTrashed() != folder.IsTrashed() && event != "documentCreatedByCopy" {
				continue
			}
			if err := reactions[event](system, d, e); err != nil {
				return err
			}
		}
		if len(page.Docs) < deck.MaxPerPage {
			return nil
		}
	}
}

package decks

import "catena/storage"

// spreading are the events of folders that happen to what is in them without being told of it.
var spreading = words("documentCreatedByCopy documentTrashed documentUntrashed")

// below has the decks in a folder hear what happened to the folder.
func below(tx *storage.Tx, folder *storage.Doc, event string) error {
	if !spreading[event] || !folder.IsFolder() {
		return nil
	}
	system := asSystem(tx)
	for at := 0; ; at += maxPerPage {
		page, err := system.Query("SELECT * FROM Deck WHERE ecm:ancestorId = ?"+live+" ORDER BY ecm:uuid", storage.QueryOptions{
			Args: []any{folder.ID()}, PageOptions: storage.PageOptions{Offset: at, Limit: maxPerPage, CountLimit: -1},
		})
		if err != nil {
			return err
		}
		for _, d := range page.Docs {
			if d.IsTrashed() != folder.IsTrashed() && event != "documentCreatedByCopy" {
				continue
			}
			if err := moved(system, d, event); err != nil {
				return err
			}
		}
		if len(page.Docs) < maxPerPage {
			return nil
		}
	}
}

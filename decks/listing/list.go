// Package listing finds the decks of a folder or a team, by number, by slug, or page by page.
//
// Pages are addressed by number, as the API demands, and their cost must not grow with the number. So the decks of a list
// are counted in blocks of 128 (blocks.go): a page is found by adding the counts of blocks up to its offset, and walking at
// most two blocks. Blocks are made of older decks only. The tail, what a list has since its last block, is where nearly all
// changes happen, so that deck creations rarely write the same rows.
package listing

import (
	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/search"
)

// Ops are the operations that list decks.
var Ops = []engine.Op{
	browse,
	list,
	listTrashed,
}

var list = engine.Op{
	Name: "Deck.List", Label: "List Decks", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns a page of the caller's decks as summaries, newest first.",
	Run:     engine.On(listParams.run),
}

type listParams struct {
	deck.Paging
	deck.View
}

func (p listParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	in, err := p.Set()
	if err != nil {
		return nil, err
	}
	folder, err := deck.Home(c, false)
	if err != nil || folder == nil {
		return p.Empty(err)
	}
	docs, total, err := folderPage(p.Paging, c.Tx, folder.ID(), byListing)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(docs))
	for i, d := range docs {
		data[i] = p.Shape(c, c.As.Name, d, in, true)
	}
	return p.Answer(data, int(total.Active)), nil
}

// folderPage returns the page of a folder's decks that have a property they are listed by, the
// last first, and how many there are.
func folderPage(p deck.Paging, tx *storage.Tx, folder, by string) (storage.Docs, counts, error) {
	if err := p.Check(); err != nil {
		return nil, counts{}, err
	}
	total, err := counted(tx, folder)
	if err != nil {
		return nil, counts{}, err
	}
	l := List{by, folder}
	if p.Offset() >= l.of(total) {
		return nil, total, nil
	}
	below, offset, err := l.Seek(tx, l.of(total), p.Offset())
	if err != nil {
		return nil, counts{}, err
	}
	query := "SELECT * FROM Deck WHERE " + by + " >= ? AND " + by + " < ?" + deck.Live + " ORDER BY " + by + " DESC"
	page, err := search.Query(tx, query, search.Options{Args: []any{folder + "/", below}, PageOptions: storage.PageOptions{
		Offset: int(offset), Limit: int(p.PerPage), CountLimit: -1,
	}})
	if err != nil {
		return nil, counts{}, err
	}
	return page.Docs, total, nil
}

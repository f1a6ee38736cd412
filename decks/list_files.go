package decks

import (
	"catena/decks/deck"
	"catena/decks/file"
	"catena/engine"
	"catena/storage"
	"catena/storage/search"
)

var listFiles = engine.Op{
	Name: "Deck.ListFiles", Label: "List Files of Deck", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns the pictures of one of the caller's decks, with the addresses by which its HTML shows them.",
	Run:     engine.On(listFilesParams.run),
}

type listFilesParams struct {
	ID int64 `json:"id" doc:"Number of the deck."`
}

func (p listFilesParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := deck.Find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	all, err := file.List(deck.AsSystem(c.Tx), d.ID())
	if err != nil {
		return nil, err
	}
	data := make([]any, len(all))
	for i := range all {
		data[i] = fileShape(p.ID, &all[i])
	}
	return map[string]any{"data": data, "meta": map[string]any{"total": int64(len(all))}}, nil
}

// copyFiles gives a copied deck, which still has the number of the first, the first one's files. It must run
// before the copy gets a number of its own: the number is how the first is found.
func copyFiles(tx *storage.Tx, d *storage.Doc) error {
	tx = deck.AsSystem(tx)
	page, err := search.Query(tx, "SELECT * FROM Deck WHERE deck:number = ?"+deck.Live, search.Options{
		Args: []any{deck.Number(d)}, PageOptions: storage.PageOptions{Limit: 2, CountLimit: -1},
	})
	if err != nil {
		return err
	}
	for _, first := range page.Docs {
		if first.ID() != d.ID() {
			return file.Copy(tx, first.ID(), d.ID())
		}
	}
	return nil
}

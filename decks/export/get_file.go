package export

import (
	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var getExportFile = engine.Op{
	Name: "Deck.GetExportFile", Label: "File of Deck Export", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns the file of a completed export of one of the caller's decks, for the following steps of a chain.",
	Run:     engine.On(getExportFileParams.run),
}

type getExportFileParams struct {
	Deck int64 `json:"deck_id" doc:"Number of the deck."`
	ID   int64 `json:"id" doc:"Number of the export."`
}

func (p getExportFileParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	if _, err := deck.Find(c, p.Deck, false); err != nil {
		return nil, err
	}
	e, err := Find(c.Tx, p.Deck, p.ID)
	if err != nil {
		return nil, err
	}
	if e.Status != Completed {
		return nil, fault.Conflict.Errorf("export %d: is %s", p.ID, e.Status)
	}
	return e.Blob(c.Tx)
}

package export

import (
	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
)

var downloadExport = engine.Op{
	Name: "Deck.DownloadExport", Label: "Download Deck Export", Category: deck.Category, Effect: engine.Reads,
	Doc: "Returns the file of an export for the address that Deck.GetExport gave: whoever has it need not sign in. It opens nothing " +
		"once it has expired, the deck is in the trash or no longer its owner's to read, or the API key has ended that asked for the address.",
	Run: engine.On(downloadExportParams.run),
}

type downloadExportParams struct {
	Deck      int64  `json:"deck_id" doc:"Number of the deck."`
	ID        int64  `json:"id" doc:"Number of the export."`
	Expires   string `json:"expires" doc:"Moment at which the address ends, as it has it."`
	Key       string `json:"key" default:"" doc:"Number of the API key that the address ends with, if it has one."`
	Signature string `json:"signature" secret:"true" doc:"What shows that this server made the address."`
}

func (p downloadExportParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	e, err := Open(c.Tx, p.Deck, p.ID, p.Expires, p.Key, p.Signature)
	if err != nil {
		return nil, err
	}
	return e.Blob(c.Tx)
}

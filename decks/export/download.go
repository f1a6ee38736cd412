package export

import (
	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
)

var downloadExport = engine.Op{
	Name: "Deck.DownloadExport", Label: "Download Deck Export", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc: "Returns the file of an export for the address returned by Deck.GetExport, without signing in. It fails " +
		"if the address has expired, the deck is in the trash or no longer readable by its owner, or the API key that requested the address was revoked.",
	Run: engine.On(downloadExportParams.run),
}

type downloadExportParams struct {
	Deck      int64  `json:"deck_id" doc:"Number of the deck."`
	ID        int64  `json:"id" doc:"Number of the export."`
	Expires   string `json:"expires" doc:"Expiry time in the address."`
	Key       string `json:"key" default:"" doc:"Id of the API key in the address, if any."`
	Signature string `json:"signature" secret:"true" doc:"Signature in the address."`
}

func (p downloadExportParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	e, err := Open(c.Tx, Link(p))
	if err != nil {
		return nil, err
	}
	return e.Blob(c.Tx)
}

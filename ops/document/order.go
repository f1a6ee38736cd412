package document

import (
	"catena/engine"
	"catena/storage"
)

var order = engine.Op{
	Name:     "Document.Order",
	Label:    "Order Document",
	Category: "Document",
	Since:    "10.1",
	Doc:      "Puts the document before another one of its ordered folder, or last, and returns it.",
	Run:      engine.Each(orderParams.run),
}

type orderParams struct {
	Before *storage.Doc `json:"before,omitzero" doc:"The document that is to come next; without it the document goes last."`
}

func (p orderParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return c.Tx.OrderBefore(d, p.Before)
}

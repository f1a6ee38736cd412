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
	Doc:      "Moves the document before another one in its ordered folder, or to the end, and returns it.",
	Callers:  engine.Anyone,
	Run:      engine.Each(orderParams.run),
}

type orderParams struct {
	Before *storage.Doc `json:"before,omitzero" doc:"Document to place it before; without it, the document moves to the end."`
}

func (p orderParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return c.Tx.OrderBefore(d, p.Before)
}

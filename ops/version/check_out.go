package version

import (
	"catena/engine"
	"catena/storage"
)

var checkOut = engine.Op{
	Name:     "Document.CheckOut",
	Label:    "Check Out",
	Category: "Document",
	Doc:      "Checks the document out, if it is not already checked out, and returns it.",
	Callers:  engine.Anyone,
	Run:      engine.Each(checkOutParams.run),
}

type checkOutParams struct{}

func (checkOutParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return c.Tx.CheckOut(d)
}

package upload

import (
	"catena/engine"
	"catena/storage/upload"
)

var drop = engine.Op{
	Name:     "Upload.Drop",
	Label:    "Drop Batch",
	Category: "Upload",
	Doc:      "Deletes a batch. Uploaded files that are in use are kept.",
	Callers:  engine.Anyone,
	Run:      engine.On(batchParams.drop).As("void", "void"),
}

func (p batchParams) drop(c *engine.Ctx, _ engine.Void) (any, error) {
	return nil, upload.Drop(c.Tx, p.Batch)
}

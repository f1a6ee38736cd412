package upload

import (
	"catena/engine"
	"catena/storage/upload"
)

var dropFile = engine.Op{
	Name:     "Upload.DropFile",
	Label:    "Drop File of Batch",
	Category: "Upload",
	Doc:      "Removes a file from a batch. The others keep their numbers.",
	Callers:  engine.Anyone,
	Run:      engine.On(fileParams.drop).As("void", "void"),
}

func (p fileParams) drop(c *engine.Ctx, _ engine.Void) (any, error) {
	return nil, upload.DropFile(c.Tx, p.Batch, p.Index)
}

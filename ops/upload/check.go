package upload

import (
	"catena/engine"
	"catena/storage/upload"
)

var check = engine.Op{
	Name:     "Upload.Check",
	Label:    "Check Batch",
	Category: "Upload",
	Doc:      "Returns nothing if the batch exists and belongs to the caller, so that clients can check before sending files.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(batchParams.check).As("void", "void"),
}

func (p batchParams) check(c *engine.Ctx, _ engine.Void) (any, error) {
	// A batch of somebody else and one that has expired are both NotFound.
	_, err := upload.BatchOf(c.Tx, p.Batch)
	return nil, err
}

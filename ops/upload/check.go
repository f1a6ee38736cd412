package upload

import (
	"catena/engine"
	"catena/storage/upload"
)

var check = engine.Op{
	Name:     "Upload.Check",
	Label:    "Check Batch",
	Category: "Upload",
	Doc:      "Says nothing if the batch is there and the caller's own, so that nobody sends files in vain.",
	Effect:   engine.Reads,
	Run:      engine.On(batchParams.check).As("void", "void"),
}

func (p batchParams) check(c *engine.Ctx, _ engine.Void) (any, error) {
	_, err := upload.BatchOf(c.Tx, p.Batch)
	return nil, err
}

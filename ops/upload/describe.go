package upload

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/upload"
)

var describe = engine.Op{
	Name:     "Upload.Describe",
	Label:    "Batch",
	Category: "Upload",
	Doc:      "Returns the contents of a batch and the handler that receives its files.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("BatchInfo"),
	Run:      engine.On(batchParams.describe).As("void", "map"),
}

type batchParams struct {
	Batch string `json:"batch" doc:"Id of the batch."`
}

func (p batchParams) describe(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	b, err := upload.BatchOf(c.Tx, p.Batch)
	if err != nil {
		return nil, err
	}
	files, err := entries(c, p.Batch)
	return map[string]any{"provider": b.Handler, "fileEntries": files, "batchId": b.ID}, err
}

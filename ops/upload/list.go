package upload

import (
	"catena/engine"
	"catena/engine/openapi"
)

var list = engine.Op{
	Name:     "Upload.List",
	Label:    "Files of a Batch",
	Category: "Upload",
	Doc:      "Returns the descriptions of the files of a batch: name, size, and for chunked files the chunks received.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("UploadedFiles"),
	Run:      engine.On(batchParams.list).As("void", "list"),
}

func (p batchParams) list(c *engine.Ctx, _ engine.Void) ([]any, error) { return entries(c, p.Batch) }

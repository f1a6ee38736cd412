package upload

import "catena/engine"

var list = engine.Op{
	Name:     "Upload.List",
	Label:    "Files of a Batch",
	Category: "Upload",
	Doc:      "Returns what is said about the files of a batch: name, size, and of those that come in chunks which are there.",
	Effect:   engine.Reads,
	Run:      engine.On(batchParams.list).As("void", "list"),
}

func (p batchParams) list(c *engine.Ctx, _ engine.Void) ([]any, error) { return entries(c, p.Batch) }

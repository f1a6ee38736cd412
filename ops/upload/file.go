package upload

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/upload"
)

var file = engine.Op{
	Name:     "Upload.File",
	Label:    "File of a Batch",
	Category: "Upload",
	Doc:      "Returns the description of a file of a batch: name, size, and the chunks received.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("UploadedFile"),
	Run:      engine.On(fileParams.run).As("void", "map"),
}

type fileParams struct {
	Batch string `json:"batch" doc:"Id of the batch."`
	Index int    `json:"fileIdx" doc:"Number of the file in the batch."`
}

func (p fileParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	u, err := upload.FileOf(c.Tx, p.Batch, p.Index)
	if err != nil {
		return nil, err
	}
	return info(u), nil
}

package upload

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/upload"
)

var content = engine.Op{
	Name:     "Upload.Content",
	Label:    "Uploaded Files",
	Category: "Upload",
	Doc:      "Returns the files of a batch, or one of them. It fails if chunks are missing.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(contentParams.run).As("void", "bloblist"),
}

type contentParams struct {
	Batch string `json:"batch" doc:"Id of the batch."`
	Index int    `json:"fileIdx" default:"-1" doc:"Index of a file in the batch; -1 for all."`
}

func (p contentParams) run(c *engine.Ctx, _ engine.Void) (any, error) {
	if p.Index >= 0 {
		u, err := upload.FileOf(c.Tx, p.Batch, p.Index)
		if err != nil {
			return nil, err
		}
		return upload.Content(c.Tx, u)
	}
	files, err := upload.Files(c.Tx, p.Batch)
	if err != nil {
		return nil, err
	}
	// One incomplete file fails the whole: a client that asks for all would not notice that one is
	// missing.
	out := make(storage.Blobs, len(files))
	for i, u := range files {
		if out[i], err = upload.Content(c.Tx, u); err != nil {
			return nil, err
		}
	}
	return out, nil
}

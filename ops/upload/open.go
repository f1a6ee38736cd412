package upload

import (
	"catena/engine"
	"catena/storage/upload"
)

var open = engine.Op{
	Name:     "Upload.Open",
	Label:    "Open Batch",
	Category: "Upload",
	Doc:      "Opens a batch that files can be uploaded to and returns its id. Only who opened it sees it, and it ends a day after it was last uploaded to.",
	Run:      engine.On(openParams.run).As("void", "map"),
}

type openParams struct {
	Handler string `json:"handler" default:"default" doc:"How files are uploaded; there is only default."`
}

func (p openParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	b, err := upload.Open(c.Tx, p.Handler)
	if err != nil {
		return nil, err
	}
	return map[string]any{"batchId": b.ID}, nil
}

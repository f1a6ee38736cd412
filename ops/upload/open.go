package upload

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/upload"
)

var open = engine.Op{
	Name:     "Upload.Open",
	Label:    "Open Batch",
	Category: "Upload",
	Doc:      "Opens a batch for uploading files and returns its id. Only its creator sees it, and it expires a day after the last upload.",
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Batch"),
	Run:      engine.On(openParams.run).As("void", "map"),
}

type openParams struct {
	Handler string `json:"handler" default:"default" doc:"Upload handler; the only one is default."`
}

func (p openParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	b, err := upload.Open(c.Tx, p.Handler)
	if err != nil {
		return nil, err
	}
	return map[string]any{"batchId": b.ID}, nil
}

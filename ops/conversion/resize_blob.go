package conversion

import (
	"catena/engine"
	"catena/storage"
)

var resizeBlob = engine.Op{
	Name:     "Image.Blob.Resize",
	Label:    "Image.Blob.Resize",
	Category: "Conversion",
	Doc:      "Makes a picture as large as fits a width and a height, and never larger than it is.",
	Effect:   engine.Reads,
	Run:      engine.On(resizeBlobParams.run),
}

type resizeBlobParams struct {
	Width  int `json:"width" type:"int" default:"0" doc:"Width in pixels that must not be passed; 0 for any."`
	Height int `json:"height" type:"int" default:"0" doc:"Height in pixels that must not be passed; 0 for any."`
}

func (p resizeBlobParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	return resized(c, b, p.Width, p.Height)
}

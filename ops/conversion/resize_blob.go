package conversion

import (
	"catena/engine"
	"catena/storage"
)

var resizeBlob = engine.Op{
	Name:     "Image.Blob.Resize",
	Label:    "Image.Blob.Resize",
	Category: "Conversion",
	Doc:      "Scales a picture down to fit a width and a height. It never enlarges a picture.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(resizeBlobParams.run),
}

type resizeBlobParams struct {
	Width  int `json:"width" type:"int" default:"0" doc:"Maximum width in pixels; 0 means no limit."`
	Height int `json:"height" type:"int" default:"0" doc:"Maximum height in pixels; 0 means no limit."`
}

func (p resizeBlobParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	return resized(c, b, p.Width, p.Height)
}

package conversion

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var resizeBlob = engine.Op{
	Name:     "Image.Blob.Resize",
	Label:    "Image.Blob.Resize",
	Category: "Conversion",
	Doc: "Scales a picture down to fit a width and a height, given by themselves or as parameters of the converter pictureResize. " +
		"It never enlarges a picture.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(resizeBlobParams.run),
}

type resizeBlobParams struct {
	Width      int           `json:"width" type:"int" default:"0" doc:"Maximum width in pixels; 0 means no limit."`
	Height     int           `json:"height" type:"int" default:"0" doc:"Maximum height in pixels; 0 means no limit."`
	Parameters storage.Props `json:"parameters,omitzero" doc:"The same, as width and height."`
}

func (p resizeBlobParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	width, err := p.side(c, "width", p.Width)
	if err != nil {
		return nil, err
	}
	height, err := p.side(c, "height", p.Height)
	if err != nil {
		return nil, err
	}
	return resized(c, b, width, height)
}

// side is a width or height, as the parameters of the converter say unless it is given by itself.
func (p resizeBlobParams) side(c *engine.Ctx, name string, own int) (int, error) {
	// 0 cannot be told from absent here, which is harmless: both mean that the operation itself
	// sets no limit, and the parameters may still give one.
	v := p.Parameters[name]
	if own != 0 || v == nil {
		return own, nil
	}
	n, err := c.Convert(v, "int")
	if err != nil {
		return 0, fault.Wrap(err, "parameters: %s", name).In("parameters")
	}
	return n.(int), nil
}

package conversion

import (
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var resizeBlob = engine.Op{
	Name:     "Image.Blob.Resize",
	Label:    "Image.Blob.Resize",
	Category: "Conversion",
	Doc: "Scales a picture down to fit a width and a height, given by themselves or as parameters of the converter pictureResize, which may " +
		"also have a conversionFormat. It never enlarges a picture.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(resizeBlobParams.run),
}

type resizeBlobParams struct {
	Width      int           `json:"width" type:"int" default:"0" doc:"Maximum width in pixels; 0 means no limit."`
	Height     int           `json:"height" type:"int" default:"0" doc:"Maximum height in pixels; 0 means no limit."`
	Parameters storage.Props `json:"parameters,omitzero" doc:"The same, as width and height, and conversionFormat: jpg or png."`
}

// formats are the converters by what they make, as the platform's parameter says it.
var formats = map[string]string{"": resizer, "jpg": "pictureToJPEG", "jpeg": "pictureToJPEG", "png": "pictureToPNG"}

func (p resizeBlobParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	width, err := p.side(c, "width", p.Width)
	if err != nil {
		return nil, err
	}
	height, err := p.side(c, "height", p.Height)
	if err != nil {
		return nil, err
	}
	format, _ := p.Parameters["conversionFormat"].(string)
	converter, ok := formats[strings.ToLower(format)]
	if !ok {
		return nil, fault.Invalid.Errorf("parameters: conversionFormat %q: must be jpg or png", format).In("parameters")
	}
	if !isPicture(b) {
		converter = resizer // the others also draw pages and films, which are not to be resized
	}
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		if !slices.Contains([]string{"width", "height", "conversionFormat"}, name) {
			c.Ignore("parameters." + name)
		}
	}
	return scaled(c, tools(c), converter, b, usualView{width: width, height: height})
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

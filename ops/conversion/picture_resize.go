package conversion

import (
	"strconv"

	"catena/engine"
	"catena/engine/convert"
	"catena/storage"
	"catena/storage/fault"
)

var pictureResize = engine.Op{
	Name:     "Picture.Resize",
	Aliases:  []string{"Picture.resize"},
	Label:    "Resize a picture",
	Category: "Conversion",
	Doc: "Makes a picture, or the main file of a document, as large as fits a width and a height, and never larger than it is. " +
		"A document without a file gives a text that says so.",
	Effect: engine.Reads,
	Run:    engine.Overload(engine.On(pictureResizeParams.blob), engine.On(pictureResizeParams.doc)),
}

type pictureResizeParams struct {
	MaxHeight int `json:"maxHeight" type:"int" doc:"Height in pixels that must not be passed; 0 for any."`
	MaxWidth  int `json:"maxWidth" type:"int" doc:"Width in pixels that must not be passed; 0 for any."`
}

func (p pictureResizeParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	return resized(c, b, p.MaxWidth, p.MaxHeight)
}

func (p pictureResizeParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := mainBlob(d)
	if fault.Is(err, fault.NotFound) {
		return engine.NewBlob(d.Name()+".null", "text/plain", []byte("There is no picture on this document.")), nil
	}
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

// resized makes a picture fit; a side of 0 may be of any length.
func resized(c *engine.Ctx, b *storage.Blob, width, height int) (*storage.Blob, error) {
	by, err := convert.Named("pictureResize")
	if err != nil {
		return nil, err
	}
	params := map[string]string{}
	for name, n := range map[string]int{"width": width, "height": height} {
		if n != 0 {
			params[name] = strconv.Itoa(n)
		}
	}
	return by.Convert(c, b, params)
}

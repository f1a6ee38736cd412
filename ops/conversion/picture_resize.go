package conversion

import (
	"context"
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
	Doc: "Scales a picture, or the main file of a document, down to fit a width and a height. It never enlarges a picture. " +
		"A file that is not a picture is returned as it is; for a document without a file a text says so.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.On(pictureResizeParams.blob), engine.On(pictureResizeParams.doc)),
}

type pictureResizeParams struct {
	MaxHeight int `json:"maxHeight" type:"int" doc:"Maximum height in pixels; 0 means no limit."`
	MaxWidth  int `json:"maxWidth" type:"int" doc:"Maximum width in pixels; 0 means no limit."`
}

func (p pictureResizeParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	if !isPicture(b) {
		return b, nil
	}
	return resized(c, b, p.MaxWidth, p.MaxHeight)
}

// resizer is the converter that makes pictures smaller.
const resizer = "pictureResize"

// isPicture reports whether a file is a picture that can be made smaller.
func isPicture(b *storage.Blob) bool {
	by, err := convert.Named(resizer)
	return err == nil && b != nil && by.Takes(b.Type)
}

func (p pictureResizeParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := mainBlob(d)
	if fault.Is(err, fault.NotFound) {
		// The text and the name are the platform's; clients recognise the suffix .null.
		return engine.NewBlob(d.Name()+".null", "text/plain", []byte("There is no picture on this document.")), nil
	}
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

// resized makes a picture fit; a side of 0 may be of any length.
func resized(c *engine.Ctx, b *storage.Blob, width, height int) (*storage.Blob, error) {
	return scaled(c, tools(c), resizer, b, usualView{width: width, height: height})
}

// scaled makes a picture fit into a view by a converter of pictures.
func scaled(ctx context.Context, t convert.Tools, converter string, b *storage.Blob, into usualView) (*storage.Blob, error) {
	by, err := convert.Named(converter)
	if err != nil {
		return nil, err
	}
	params := map[string]string{}
	for name, n := range map[string]int{"width": into.width, "height": into.height} {
		// Zero means no limit here, but the converter refuses a side of 0: for it, no limit is a
		// side that is not given.
		if n != 0 {
			params[name] = strconv.Itoa(n)
		}
	}
	return by.Convert(ctx, t, b, params)
}

package conversion

import (
	"strings"

	"catena/engine"
	"catena/engine/convert"
	"catena/storage"
	"catena/storage/fault"
)

var preview = engine.Op{
	Name:     "Resource.Preview",
	Label:    "Preview",
	Category: "Resource",
	Doc:      "Returns the main file of a document in a form that browsers can show: text as HTML, pictures and PDF unchanged. It fails if the file cannot be shown.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.On(previewParams.doc), engine.On(previewParams.blob)),
}

type previewParams struct{}

func (p previewParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := mainBlob(d)
	if fault.Is(err, fault.NotFound) && d.IsNote() {
		b, err = engine.NewBlob(storage.NoteName(d.Title(), "text/plain"), "text/plain", nil), nil // not written yet
	}
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

func (previewParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	// What browsers show by themselves is sent as it is; converting it would lose quality and cost
	// time.
	to := "text/html"
	switch {
	case convert.Unshown(b.Type) && convert.Find(b.Type, "image/jpeg").Missing(tools(c), b.Type) == nil:
		to = "image/jpeg"
	case b.Type == "application/pdf" || strings.HasPrefix(b.Type, "image/"):
		return b, nil
	}
	by := convert.Find(b.Type, to)
	if by == nil {
		return nil, fault.NotFound.Errorf("file %s: has no preview", b.Name)
	}
	return by.Convert(c, tools(c), b, nil)
}

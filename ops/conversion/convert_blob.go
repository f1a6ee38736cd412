package conversion

import (
	"catena/engine"
	"catena/engine/convert"
	"catena/storage"
)

var convertBlob = engine.Op{
	Name:     "Blob.Convert",
	Label:    "Convert to given mime-type",
	Category: "Conversion",
	Doc:      "Converts files, or the main file of a document, to a type. A file that cannot be converted is returned unchanged.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.Each(convertBlobParams.blob), engine.On(convertBlobParams.doc)),
}

type convertBlobParams struct {
	Type string `json:"mimeType" doc:"Type of the result."`
}

func (p convertBlobParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	// This rule of the platform is what sets Blob.Convert apart from Blob.ToPDF: a file that no
	// converter takes passes through. A conversion that was begun and failed is still an error.
	by := convert.Find(b.Type, p.Type)
	if by == nil || b.Type == p.Type {
		return b, nil
	}
	return by.Convert(c, tools(c), b, nil)
}

func (p convertBlobParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := mainBlob(d)
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

package conversion

import (
	"catena/engine"
	"catena/storage"
)

var toPDF = engine.Op{
	Name:     "Blob.ToPDF",
	Label:    "Convert To PDF",
	Category: "Conversion",
	Doc:      "Converts files, or the main file of a document, to PDF. It fails if a file cannot be converted.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.Each(toPDFParams.blob), engine.On(toPDFParams.doc)),
}

type toPDFParams struct{}

func (toPDFParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	if b.Type == "application/pdf" {
		return b, nil
	}
	return convertParams{wanted{Type: "application/pdf"}}.blob(c, b)
}

func (p toPDFParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := mainBlob(d)
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

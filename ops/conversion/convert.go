package conversion

import (
	"catena/engine"
	"catena/storage"
)

var convertAny = engine.Op{
	Name:     "Resource.Convert",
	Label:    "Convert",
	Category: "Resource",
	Doc:      "Converts a file, or the main file of a document, by a converter's name, to a type, or to a format, and returns the result.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.On(convertParams.blob), engine.On(convertParams.doc)),
}

type convertParams struct{ wanted }

func (p convertParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	by, err := p.find(b)
	if err != nil {
		return nil, err
	}
	// Somebody who names a converter wants its work done, for example a smaller picture of the same
	// type; somebody who names a type already has the result.
	if p.Converter == "" && by.To == b.Type {
		return b, nil
	}
	return by.Convert(c, tools(c), b, nil)
}

func (p convertParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := mainBlob(d)
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

package context

import (
	"catena/engine"
	"catena/storage"
)

var fetchDocument = engine.Op{
	Name:     "Context.FetchDocument",
	Label:    "Context Document(s)",
	Category: "Fetch",
	Doc:      "Returns the input document or documents. It is of use where a chain is given a path or an id, which become documents here.",
	Effect:   engine.Reads,
	Run:      engine.Each(fetchDocumentParams.run),
}

type fetchDocumentParams none

func (fetchDocumentParams) run(_ *engine.Ctx, d *storage.Doc) (*storage.Doc, error) { return d, nil }

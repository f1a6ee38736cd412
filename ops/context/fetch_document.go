package context

import (
	"catena/engine"
	"catena/storage"
)

var fetchDocument = engine.Op{
	Name:     "Context.FetchDocument",
	Label:    "Context Document(s)",
	Category: "Fetch",
	Doc:      "Returns the input document or documents. Use it where a chain receives a path or an id, which it converts to a document.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(fetchDocumentParams.run),
}

type fetchDocumentParams none

// The work is done by the engine, which converts the input to the declared type and reads the
// document with the permissions of the caller.
func (fetchDocumentParams) run(_ *engine.Ctx, d *storage.Doc) (*storage.Doc, error) { return d, nil }

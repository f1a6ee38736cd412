package repository

import (
	"catena/engine"
	"catena/storage"
)

var getDocument = engine.Op{
	Name:     "Repository.GetDocument",
	Aliases:  []string{"Document.Fetch"},
	Label:    "Document",
	Category: "Fetch",
	Doc:      "Returns the document with a path or an id. A path that begins with a dot starts at the input document.",
	Effect:   engine.Reads,
	Run:      engine.On(getDocumentParams.run),
}

type getDocumentParams struct {
	Value storage.Ref `json:"value" doc:"Path or id of the document."`
}

func (p getDocumentParams) run(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	base, _ := c.Input.(*storage.Doc)
	return c.Tx.DocFrom(base, p.Value)
}

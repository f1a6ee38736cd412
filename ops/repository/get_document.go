package repository

import (
	"strings"

	"catena/engine"
	"catena/storage"
)

var getDocument = engine.Op{
	Name:     "Repository.GetDocument",
	Aliases:  []string{"Document.Fetch"},
	Label:    "Document",
	Category: "Fetch",
	Doc:      "Returns the document with a path or id. A path that starts with a dot is relative to the input document.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(getDocumentParams.run),
}

type getDocumentParams struct {
	Value storage.Ref `json:"value" doc:"Path or id of the document."`
}

func (p getDocumentParams) run(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	// Only a relative path needs the input, which may be anything otherwise: chains of the platform
	// call this operation to begin with another document.
	if !strings.HasPrefix(string(p.Value), ".") {
		return engine.Named(c.Tx.Doc(p.Value))
	}
	in, err := c.Convert(c.Input, "document")
	if err != nil {
		return nil, err
	}
	base, _ := in.(*storage.Doc)
	return engine.Named(c.Tx.DocFrom(base, p.Value))
}

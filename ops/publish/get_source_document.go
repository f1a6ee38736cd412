package publish

import (
	"catena/engine"
	"catena/storage"
)

var getSourceDocument = engine.Op{
	Name:     "Proxy.GetSourceDocument",
	Aliases:  []string{"GetLiveDocument"},
	Label:    "Get Live Document",
	Category: "Document",
	Doc:      "Returns the live document of a proxy or version; other documents are returned unchanged.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(getSourceDocumentParams.run),
}

type getSourceDocumentParams struct{}

func (getSourceDocumentParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// It is read as the caller: a reader of a section mostly cannot see where the document is
	// written.
	return c.Tx.Live(d)
}

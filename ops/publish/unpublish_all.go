package publish

import (
	"catena/engine"
	"catena/storage"
)

var unpublishAll = engine.Op{
	Name:     "Document.UnpublishAll",
	Label:    "Unpublish Document",
	Category: "Document",
	Doc:      "Removes everything that is published of the document where the caller may see it. It gives nothing.",
	Run:      engine.On(unpublishAllParams.run).As("document", "void"),
}

type unpublishAllParams struct{}

func (unpublishAllParams) run(c *engine.Ctx, d *storage.Doc) (any, error) {
	return nil, removeAll(c, d, (*storage.Doc).IsImmutable)
}

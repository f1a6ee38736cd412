package publish

import (
	"catena/engine"
	"catena/storage"
)

var unpublishAll = engine.Op{
	Name:     "Document.UnpublishAll",
	Label:    "Unpublish Document",
	Category: "Document",
	Doc:      "Removes all published proxies of the document and its renditions that the caller may see. Returns nothing.",
	Callers:  engine.Anyone,
	Run:      engine.On(unpublishAllParams.run).As("document", "void"),
}

type unpublishAllParams struct{}

func (unpublishAllParams) run(c *engine.Ctx, d *storage.Doc) (any, error) {
	// A published proxy shows a version and so is immutable; live proxies stay.
	if err := removeAll(c, d, (*storage.Doc).IsImmutable); err != nil {
		return nil, err
	}
	return nil, unpublishRenditions(c, d)
}

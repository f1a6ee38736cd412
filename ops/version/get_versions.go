package version

import (
	"catena/engine"
	"catena/storage"
)

var getVersions = engine.Op{
	Name:     "Document.GetVersions",
	Label:    "Get Versions",
	Category: "Document",
	Doc:      "Returns the versions of the document, oldest first; if they do not fit on a page, the newest ones.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(getVersionsParams.run),
}

type getVersionsParams struct{}

func (getVersionsParams) run(c *engine.Ctx, d *storage.Doc) (storage.Docs, error) {
	versions, err := c.Tx.Versions(d)
	if versions == nil {
		versions = storage.Docs{}
	}
	return versions, err
}

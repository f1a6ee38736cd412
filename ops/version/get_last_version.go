package version

import (
	"catena/engine"
	"catena/storage"
)

var getLastVersion = engine.Op{
	Name:     "Document.GetLastVersion",
	Label:    "Get Last Version",
	Category: "Document",
	Doc:      "Returns the newest version of the document, or nothing if it has none.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(getLastVersionParams.run),
}

type getLastVersionParams struct{}

func (getLastVersionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return c.Tx.LastVersion(d)
}

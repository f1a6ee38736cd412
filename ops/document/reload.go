package document

import (
	"catena/engine"
	"catena/storage"
)

var reload = engine.Op{
	Name:     "Document.Reload",
	Label:    "Reset",
	Category: "Document",
	Doc:      "Reads the document again and discards unsaved changes.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(reloadParams.run),
}

type reloadParams struct{}

func (reloadParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return c.Tx.Reload(d)
}

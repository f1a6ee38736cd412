package document

import (
	"catena/engine"
	"catena/storage"
)

var saveDoc = engine.Op{
	Name:     "Document.Save",
	Label:    "Save",
	Category: "Document",
	Doc:      "Saves the changes made to the document so far and returns it as stored.",
	Callers:  engine.Anyone,
	Run:      engine.Each(saveParams.run),
}

type saveParams struct{}

// It is the end of a chain that changed properties with save=false: one save, with one version and
// one event.
func (saveParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return c.Tx.Save(d, storage.SaveOptions{})
}

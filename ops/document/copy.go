package document

import (
	"catena/engine"
	"catena/storage"
)

var copyDoc = engine.Op{
	Name:     "Document.Copy",
	Label:    "Copy",
	Category: "Document",
	Doc:      "Copies the document with everything below it into another folder and returns the copy. The life-cycle state is kept, locks are not.",
	Run:      engine.Each(copyParams.run),
}

type copyParams struct {
	Target storage.Ref `json:"target" doc:"Folder to copy into: a path, an id, or a path relative to the input that starts with a dot."`
	Name   string      `json:"name,omitzero" doc:"Name of the copy; without it the name is kept."`
}

func (p copyParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	target, err := engine.Named(c.Tx.DocFrom(d, p.Target))
	if err != nil {
		return nil, err
	}
	return c.Tx.Copy(d, target, p.Name)
}

package document

import (
	"catena/engine"
	"catena/storage"
)

var copyDoc = engine.Op{
	Name:     "Document.Copy",
	Label:    "Copy",
	Category: "Document",
	Doc:      "Copies the document with everything below it into another folder and returns the copy. The copy keeps the life-cycle state but not locks.",
	Callers:  engine.Anyone,
	Run:      engine.Each(copyParams.run),
}

type copyParams struct {
	Target storage.Ref `json:"target" doc:"Path or id of the folder to copy into; a path that starts with a dot is relative to the input."`
	Name   string      `json:"name,omitzero" doc:"Name of the copy; by default the same name."`
}

func (p copyParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// Named marks the error as one of a parameter: a target that does not exist is a mistake in the call, not
	// in the input.
	target, err := engine.Named(c.Tx.DocFrom(d, p.Target))
	if err != nil {
		return nil, err
	}
	return c.Tx.Copy(d, target, p.Name)
}

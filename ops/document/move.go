package document

import (
	"catena/engine"
	"catena/storage"
)

var move = engine.Op{
	Name:     "Document.Move",
	Label:    "Move",
	Category: "Document",
	Doc:      "Moves the document with everything below it into another folder and returns it.",
	Callers:  engine.Anyone,
	Run:      engine.Each(moveParams.run),
}

type moveParams struct {
	Target storage.Ref `json:"target" doc:"Path or id of the folder to move into; a path that starts with a dot is relative to the input."`
	Name   string      `json:"name,omitzero" doc:"New name; by default the same name."`
}

func (p moveParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// Storage refuses to move a folder into itself or below itself, which would cut it off from the
	// root.
	target, err := engine.Named(c.Tx.DocFrom(d, p.Target))
	if err != nil {
		return nil, err
	}
	return c.Tx.Move(d, target, p.Name)
}

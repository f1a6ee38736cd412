package document

import (
	"catena/engine"
	"catena/storage"
)

var getChild = engine.Op{
	Name:     "Document.GetChild",
	Label:    "Get Child",
	Category: "Document",
	Doc:      "Returns the child with a name.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(getChildParams.run),
}

type getChildParams struct {
	Name string `json:"name" doc:"Name of the child; case-sensitive."`
}

func (p getChildParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// A child that the caller may not read is an error of the same kind as one that does not exist.
	return c.Tx.Child(d, p.Name)
}

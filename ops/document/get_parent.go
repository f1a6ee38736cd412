package document

import (
	"catena/engine"
	"catena/storage"
)

var getParent = engine.Op{
	Name:     "Document.GetParent",
	Label:    "Get Parent",
	Category: "Document",
	Doc:      "Returns the parent, or the nearest ancestor of a type. Returns nothing above the root.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(getParentParams.run),
}

type getParentParams struct {
	Type string `json:"type,omitzero" names:"type" doc:"Exact type of the ancestor; by default the direct parent."`
}

func (p getParentParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// An ancestor that the caller may not read ends the search with an error, even if one above it
	// could be read.
	parent, err := c.Tx.Parent(d)
	for err == nil && parent != nil && given(p.Type) && parent.Type().Name != p.Type {
		parent, err = c.Tx.Parent(parent)
	}
	return parent, err
}

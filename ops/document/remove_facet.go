package document

import (
	"catena/engine"
	"catena/storage"
)

var removeFacet = engine.Op{
	Name:     "Document.RemoveFacet",
	Label:    "Remove Facet",
	Category: "Document",
	Doc:      "Takes a facet away, with the properties it brought, and returns the document. Facets of the type stay.",
	Run:      engine.Each(removeFacetParams.run),
}

type removeFacetParams struct {
	Facet string `json:"facet" doc:"Name of the facet."`
	Save  bool   `json:"save" default:"true" values:"true" doc:"Store the change at once."`
}

func (p removeFacetParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if err := d.RemoveFacet(p.Facet); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}

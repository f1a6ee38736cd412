package property

import (
	"catena/engine"
	"catena/storage"
)

var removeFacet = engine.Op{
	Name:     "Document.RemoveFacet",
	Label:    "Remove Facet",
	Category: "Document",
	Doc:      "Removes a facet and its properties, and returns the document. Facets of the type cannot be removed.",
	Callers:  engine.Anyone,
	Run:      engine.Each(removeFacetParams.run),
}

type removeFacetParams struct {
	Facet string `json:"facet" names:"facet" doc:"Name of the facet."`
	Save  bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
}

func (p removeFacetParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// The properties of its schemas are lost with it unless the type or another facet has them,
	// too.
	if err := d.RemoveFacet(p.Facet); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}

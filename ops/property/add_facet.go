package property

import (
	"catena/engine"
	"catena/storage"
)

var addFacet = engine.Op{
	Name:     "Document.AddFacet",
	Label:    "Add Facet",
	Category: "Document",
	Doc:      "Gives the document a facet, with the properties that come with it, and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(addFacetParams.run),
}

type addFacetParams struct {
	Facet string `json:"facet" names:"facet" doc:"Name of the facet."`
	Save  bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
}

func (p addFacetParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// A facet that the document has already is no error; one that is not declared is.
	if err := d.AddFacet(p.Facet); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}

package resource

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
)

// Declarations of types are not secret: every user may read them, since forms and imports need
// them.
var configFacet = engine.Op{
	Name:     "Config.Facet",
	Label:    "Facet",
	Category: "Configuration",
	Doc:      "Describes a facet: the schemas it brings.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Facet"),
	Run:      engine.On(configFacetParams.run),
}

type configFacetParams struct {
	Name string `json:"name" doc:"Name of the facet."`
}

func (p configFacetParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	found, ok := storage.TypesOf(c.Tx).Facet(p.Name)
	if !ok {
		return nil, fault.Missing("facet", p.Name, storage.TypesOf(c.Tx).FacetNames())
	}
	return facetEntity(found), nil
}

package resource

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
)

var configFacets = engine.Op{
	Name:     "Config.Facets",
	Label:    "Facets",
	Category: "Configuration",
	Doc:      "Describes all facets.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Facets"),
	Run:      engine.On(configFacetsParams.run),
}

type configFacetsParams struct{}

func (configFacetsParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	all := storage.TypesOf(c.Tx).Facets()
	list := make([]any, len(all))
	for i, f := range all {
		list[i] = facetEntity(f)
	}
	return list, nil
}

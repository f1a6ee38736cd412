package resource

import (
	"maps"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
)

// configTypes is what clients read once at their start. Types name their schemas instead of
// repeating them, unlike Config.Type.
var configTypes = engine.Op{
	Name:     "Config.Types",
	Label:    "Document Types",
	Category: "Configuration",
	Doc:      "Returns all document types and schemas, by name.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("DocTypes"),
	Run:      engine.On(configTypesParams.run),
}

type configTypesParams struct{}

func (configTypesParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	types := storage.TypesOf(c.Tx)
	docTypes := make(map[string]any)
	for _, t := range types.Types() {
		schemas := make([]any, len(t.Schemas))
		for i, s := range t.Schemas {
			schemas[i] = s.Name
		}
		docTypes[t.Name] = map[string]any{"parent": engine.OrNull(t.Parent), "facets": engine.List(t.Facets), "schemas": schemas}
	}
	schemas := make(map[string]any)
	for _, s := range types.Schemas() {
		described := map[string]any{"@prefix": s.Space()}
		maps.Copy(described, fieldTypes(s.Fields, false))
		schemas[s.Name] = described
	}
	return map[string]any{"doctypes": docTypes, "schemas": schemas}, nil
}

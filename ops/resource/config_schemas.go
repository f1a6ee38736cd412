package resource

import (
	"slices"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
)

var configSchemas = engine.Op{
	Name:     "Config.Schemas",
	Label:    "Schemas",
	Category: "Configuration",
	Doc:      "Describes all schemas.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Schemas"),
	Run:      engine.On(configSchemasParams.run),
}

type configSchemasParams struct {
	Fetch []string `json:"fetch,omitzero" doc:"fields to include the constraints of the fields."`
}

func (p configSchemasParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	return schemaList(storage.TypesOf(c.Tx).Schemas(), slices.Contains(p.Fetch, "fields")), nil
}

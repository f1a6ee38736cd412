package resource

import (
	"slices"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
)

var configSchema = engine.Op{
	Name:     "Config.Schema",
	Label:    "Schema",
	Category: "Configuration",
	Doc:      "Describes a schema: its prefix and the types of its fields.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Schema"),
	Run:      engine.On(configSchemaParams.run),
}

type configSchemaParams struct {
	Name  string   `json:"name" doc:"Name of the schema."`
	Fetch []string `json:"fetch,omitzero" doc:"fields to include the constraints of the fields."`
}

func (p configSchemaParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	found, ok := storage.TypesOf(c.Tx).Schema(p.Name)
	if !ok {
		return nil, fault.Missing("schema", p.Name, storage.TypesOf(c.Tx).SchemaNames())
	}
	return schemaEntity(found, slices.Contains(p.Fetch, "fields")), nil
}

package resource

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
)

var configType = engine.Op{
	Name:     "Config.Type",
	Label:    "Document Type",
	Category: "Configuration",
	Doc:      "Describes a document type: its parent, its facets and its schemas.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("DocType"),
	Run:      engine.On(configTypeParams.run),
}

type configTypeParams struct {
	Name string `json:"name" doc:"Name of the document type."`
}

func (p configTypeParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	found, ok := storage.TypesOf(c.Tx).Type(p.Name)
	if !ok {
		return nil, fault.Missing("document type", p.Name, storage.TypesOf(c.Tx).TypeNames())
	}
	return typeEntity(found), nil
}

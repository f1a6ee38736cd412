package resource

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
)

var businessWrite = engine.Op{
	Name:     "Business.Write",
	Label:    "Write Business Object",
	Category: "Business",
	Doc:      "Sets the document's properties from a business object and returns the updated object.",
	Callers:  engine.Anyone,
	Result:   openapi.Ref("BusinessObject"),
	Run:      engine.On(businessWriteParams.run),
}

type businessWriteParams struct {
	Adapter string         `json:"adapter" doc:"Name of the adapter, for example BusinessBeanAdapter."`
	Object  map[string]any `json:"object" type:"object" doc:"The business object: entity-type and value."`
}

func (p businessWriteParams) run(c *engine.Ctx, d *storage.Doc) (map[string]any, error) {
	value, err := fields(p.Adapter, p.Object)
	if err != nil {
		return nil, err
	}
	if err := setFields(c, p.Adapter, d, value); err != nil {
		return nil, err
	}
	if d, err = c.Tx.Save(d, storage.SaveOptions{}); err != nil {
		return nil, err
	}
	return object(p.Adapter, d)
}

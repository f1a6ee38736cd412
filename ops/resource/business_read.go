package resource

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
)

var businessRead = engine.Op{
	Name:     "Business.Read",
	Label:    "Read Business Object",
	Category: "Business",
	Doc:      "Returns the document as the business object of an adapter.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("BusinessObject"),
	Run:      engine.On(businessReadParams.run),
}

type businessReadParams struct {
	Adapter string `json:"adapter" doc:"Name of the adapter, for example BusinessBeanAdapter."`
}

func (p businessReadParams) run(_ *engine.Ctx, d *storage.Doc) (map[string]any, error) {
	return object(p.Adapter, d)
}

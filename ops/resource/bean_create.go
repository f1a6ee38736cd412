package resource

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
)

// beanCreate differs from the platform, which requires parentPath and name, ignores both, and
// leaves the document without a parent, so that it works for administrators only.
var beanCreate = engine.Op{
	Name:     "Business.BusinessCreateOperation",
	Label:    "BusinessCreateOperation",
	Category: "Business",
	Doc:      "Creates a document from a business object in a folder, with a name, and returns the object.",
	Callers:  engine.Anyone,
	Result:   openapi.Ref("BusinessObject"),
	Run:      engine.On(beanCreateParams.run).As("businessadapter", "businessadapter"),
}

type beanCreateParams struct {
	Name   string      `json:"name" doc:"Name in the folder."`
	Parent storage.Ref `json:"parentPath" type:"string" doc:"Path of the folder."`
}

func (p beanCreateParams) run(c *engine.Ctx, bean map[string]any) (map[string]any, error) {
	folder, err := c.Tx.Doc(p.Parent)
	if err != nil {
		return nil, err
	}
	adapter, _ := bean["entity-type"].(string)
	return businessCreateParams{Adapter: adapter, Name: p.Name, Object: bean}.run(c, folder)
}

package resource

import (
	"strings"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
)

var businessCreate = engine.Op{
	Name:     "Business.Create",
	Label:    "Create from Business Object",
	Category: "Business",
	Doc:      "Creates a document from a business object in the input folder and returns the object.",
	Callers:  engine.Anyone,
	Result:   openapi.Ref("BusinessObject"),
	Run:      engine.On(businessCreateParams.run),
}

type businessCreateParams struct {
	Adapter string         `json:"adapter" doc:"Name of the adapter, for example BusinessBeanAdapter."`
	Name    string         `json:"name" doc:"Name in the folder."`
	Object  map[string]any `json:"object" type:"object" doc:"The business object: entity-type and value, which contains the document's type."`
}

func (p businessCreateParams) run(c *engine.Ctx, folder *storage.Doc) (map[string]any, error) {
	value, err := fields(p.Adapter, p.Object)
	if err != nil {
		return nil, err
	}
	typeName, _ := value["type"].(string)
	if typeName == "" {
		return nil, fault.Invalid.Errorf("value: type is missing").In("type")
	}
	d, err := c.Tx.NewDoc(typeName)
	if err != nil {
		return nil, err
	}
	if err := setFields(c, p.Adapter, d, value); err != nil {
		return nil, err
	}
	// A slash separates the names of a path. Add checks the permission AddChildren.
	if err := c.Tx.Add(folder, d, strings.ReplaceAll(p.Name, "/", "-"), storage.SaveOptions{}); err != nil {
		return nil, err
	}
	return object(p.Adapter, d)
}

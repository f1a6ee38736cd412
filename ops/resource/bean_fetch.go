package resource

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
)

// beanFetch takes nothing from the object but its adapter and its id; whatever fields it holds are
// replaced by the stored ones.
var beanFetch = engine.Op{
	Name:     "Business.BusinessFetchOperation",
	Label:    "BusinessFetchOperation",
	Category: "Business",
	Doc:      "Returns the business object with the current state of the document that its id names.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("BusinessObject"),
	Run:      engine.On(beanFetchParams.run).As("businessadapter", "businessadapter"),
}

type beanFetchParams struct{}

func (beanFetchParams) run(c *engine.Ctx, bean map[string]any) (map[string]any, error) {
	adapter, d, err := beanDoc(c, bean)
	if err != nil {
		return nil, err
	}
	return object(adapter, d)
}

// beanDoc returns the adapter and the document of a business object.
func beanDoc(c *engine.Ctx, bean map[string]any) (string, *storage.Doc, error) {
	adapter, _ := bean["entity-type"].(string)
	value, err := fields(adapter, bean)
	if err != nil {
		return "", nil, err
	}
	id, _ := value["id"].(string)
	if id == "" {
		return "", nil, fault.Invalid.Errorf("value: id is missing").In("id")
	}
	d, err := c.Tx.Doc(storage.Ref(id))
	return adapter, d, err
}

package resource

import (
	"catena/engine"
	"catena/engine/openapi"
)

var beanUpdate = engine.Op{
	Name:     "Business.BusinessUpdateOperation",
	Label:    "BusinessUpdateOperation",
	Category: "Business",
	Doc:      "Stores the fields of a business object in the document that its id names, and returns the updated object.",
	Callers:  engine.Anyone,
	Result:   openapi.Ref("BusinessObject"),
	Run:      engine.On(beanUpdateParams.run).As("businessadapter", "businessadapter"),
}

type beanUpdateParams struct{}

func (beanUpdateParams) run(c *engine.Ctx, bean map[string]any) (map[string]any, error) {
	adapter, d, err := beanDoc(c, bean)
	if err != nil {
		return nil, err
	}
	// The platform returns the object as it was sent. Here the answer holds what is stored, with
	// defaults and converted values.
	return businessWriteParams{Adapter: adapter, Object: bean}.run(c, d)
}

package resource

import (
	"catena/engine"
)

var beanUpdate = engine.Op{
	Name:     "Business.BusinessUpdateOperation",
	Label:    "BusinessUpdateOperation",
	Category: "Business",
	Doc:      "Stores what the business object holds in its document, which the object's id names, and returns the object as it then is.",
	Run:      engine.On(beanUpdateParams.run).As("businessadapter", "businessadapter"),
}

type beanUpdateParams struct{}

func (beanUpdateParams) run(c *engine.Ctx, bean map[string]any) (map[string]any, error) {
	adapter, d, err := beanDoc(c, bean)
	if err != nil {
		return nil, err
	}
	return businessWriteParams{Adapter: adapter, Object: bean}.run(c, d)
}

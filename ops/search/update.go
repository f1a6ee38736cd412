package search

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
)

func update(lists listsOf) engine.Op {
	return engine.Op{
		Name:     "SavedSearch.Update",
		Label:    "Update Saved Search",
		Category: category,
		Doc:      "Changes a saved search and returns it. Omitted fields are unchanged.",
		Callers:  engine.Anyone,
		Result:   openapi.Ref("SavedSearch"),
		Run: engine.On(func(p updateParams, c *engine.Ctx, _ engine.Void) (map[string]any, error) {
			return p.run(c, lists)
		}),
	}
}

type updateParams struct {
	ID     string         `json:"id" doc:"The saved search's id."`
	Search map[string]any `json:"search" type:"object" doc:"New content of the search."`
}

func (p updateParams) run(c *engine.Ctx, lists listsOf) (map[string]any, error) {
	d, err := named{p.ID}.find(c)
	if err != nil {
		return nil, err
	}
	values, err := props(p.Search)
	if err != nil {
		return nil, err
	}
	// The order does not matter, since no property is a part of another.
	for xpath, v := range values {
		if err := d.Set(xpath, v); err != nil {
			return nil, err
		}
	}
	if d, err = c.Tx.Save(d, storage.SaveOptions{}); err != nil {
		return nil, err
	}
	return lists.entity(d), nil
}

package search

import (
	"catena/engine"
	"catena/engine/openapi"
)

func read(lists listsOf) engine.Op {
	return engine.Op{
		Name:     "SavedSearch.Read",
		Label:    "Saved Search",
		Category: category,
		Doc:      "Returns a saved search.",
		Effect:   engine.Reads,
		Callers:  engine.Anyone,
		Result:   openapi.Ref("SavedSearch"),
		Run: engine.On(func(p readParams, c *engine.Ctx, _ engine.Void) (map[string]any, error) {
			return p.run(c, lists)
		}),
	}
}

type readParams named

func (p readParams) run(c *engine.Ctx, lists listsOf) (map[string]any, error) {
	d, err := named(p).find(c)
	if err != nil {
		return nil, err
	}
	return lists.entity(d), nil
}

var remove = engine.Op{
	Name:     "SavedSearch.Delete",
	Label:    "Delete Saved Search",
	Category: category,
	Doc:      "Deletes a saved search.",
	Callers:  engine.Anyone,
	Run:      engine.On(removeParams.run),
}

type removeParams named

func (p removeParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	d, err := named(p).find(c)
	if err != nil {
		return engine.Void{}, err
	}
	return engine.Void{}, c.Tx.Delete(d)
}

package search

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

func create(lists listsOf) engine.Op {
	return engine.Op{
		Name:     "SavedSearch.Create",
		Label:    "Save Search",
		Category: category,
		Doc:      "Saves a search in the caller's personal workspace and returns it.",
		Callers:  engine.Anyone,
		Result:   openapi.Ref("SavedSearch"),
		Run: engine.On(func(p createParams, c *engine.Ctx, _ engine.Void) (map[string]any, error) {
			return p.run(c, lists)
		}),
	}
}

type createParams struct {
	Search map[string]any `json:"search" type:"object" doc:"The search: title, and query or pageProviderName, with queryParams, params, pageSize, sortBy and sortOrder."`
}

func (p createParams) run(c *engine.Ctx, lists listsOf) (map[string]any, error) {
	title, _ := p.Search["title"].(string)
	if title == "" {
		return nil, fault.Invalid.Errorf("title: is missing").In("title")
	}
	values, err := props(p.Search)
	if err != nil {
		return nil, err
	}
	// Whether the query can be parsed is not checked: it is run with other parameters each time,
	// and an error then reaches the user who runs it.
	query, _ := values["saved:query"].(string)
	provider, _ := values["saved:pageProviderName"].(string)
	if query == "" && provider == "" {
		return nil, fault.Invalid.Errorf("query: query or pageProviderName is required").In("query")
	}
	home, err := people.Home(c.Tx, true)
	if err != nil {
		return nil, err
	}
	shelf, err := c.Tx.Child(home, folder)
	if fault.Is(err, fault.NotFound) {
		shelf, err = c.Tx.Create(home, "HiddenFolder", folder, storage.Props{"dc:title": "Saved searches"})
	}
	if err != nil {
		return nil, err
	}
	// Two searches may have the same title: Create appends the time to a name that is taken.
	d, err := c.Tx.Create(shelf, typeName, c.Tx.Repo().NameOf(title), values)
	if err != nil {
		return nil, err
	}
	return lists.entity(d), nil
}

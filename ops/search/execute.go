package search

import (
	"cmp"

	"catena/engine"
	"catena/storage"
)

var execute = engine.Op{
	Name:     "SavedSearch.Execute",
	Label:    "Run Saved Search",
	Category: category,
	Doc:      "Runs a saved search and returns a page of the results.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(executeParams.run),
}

type executeParams struct {
	ID       string `json:"id" doc:"The saved search's id."`
	PageSize string `json:"pageSize,omitzero" doc:"Maximum number of entries per page, instead of the saved one."`
	Index    string `json:"currentPageIndex,omitzero" doc:"Number of the page, from 0, instead of the saved one."`
	SortBy   string `json:"sortBy,omitzero" doc:"Fields to sort by, instead of the saved ones."`
	Order    string `json:"sortOrder,omitzero" doc:"Direction for each field: asc, or anything else for descending."`
}

func (p executeParams) run(c *engine.Ctx, _ engine.Void) (*storage.Page, error) {
	d, err := named{p.ID}.find(c)
	if err != nil {
		return nil, err
	}
	// The parameters are texts, which the operation called converts and checks as if a client had
	// sent them. A saved value that is wrong is an error there and not here.
	params := map[string]any{}
	for name, v := range map[string]string{
		"pageSize":         cmp.Or(p.PageSize, text(d, "pageSize")),
		"currentPageIndex": cmp.Or(p.Index, text(d, "currentPageIndex")),
		"sortBy":           cmp.Or(p.SortBy, text(d, "sortBy")),
		"sortOrder":        cmp.Or(p.Order, text(d, "sortOrder")),
	} {
		if v != "" {
			params[name] = v
		}
	}
	if v := value(d, "queryParams"); v != nil && v != "" {
		params["queryParams"] = v
	}
	if v, ok := value(d, "params").(map[string]any); ok {
		params["namedParameters"] = v
	}
	// It is called by name, with the rights of the caller who runs the search and not of its owner.
	op := "Resource.Query"
	if provider := text(d, "pageProviderName"); provider != "" {
		op, params["providerName"] = "Repository.PageProvider", provider
	} else {
		params["query"] = text(d, "query")
		if v := text(d, "maxResults"); v != "" {
			params["maxResults"] = v
		}
	}
	out, err := c.Call(op, nil, params)
	if err != nil {
		return nil, err
	}
	page, _ := out.(*storage.Page)
	return page, nil
}

package search

import (
	"cmp"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/search"
)

func list(lists listsOf) engine.Op {
	return engine.Op{
		Name:     "SavedSearch.List",
		Label:    "Saved Searches",
		Category: category,
		Doc:      "Returns a page of the saved searches that the caller may read, by title.",
		Effect:   engine.Reads,
		Callers:  engine.Anyone,
		Result:   openapi.Ref("SavedSearches"),
		Run: engine.On(func(p listParams, c *engine.Ctx, _ engine.Void) (map[string]any, error) {
			return p.run(c, lists)
		}),
	}
}

type listParams struct {
	Provider string `json:"pageProvider,omitzero" doc:"Only searches with this page provider."`
	PageSize int    `json:"pageSize" default:"50" doc:"Maximum number of entries per page."`
	Index    int    `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
}

func (p listParams) run(c *engine.Ctx, lists listsOf) (map[string]any, error) {
	// Everyone's saved searches are in personal workspaces, so others see only those that are
	// shared with them: the query runs as the caller.
	where, args := "", []any(nil)
	if p.Provider != "" {
		where, args = " AND saved:pageProviderName = ?", []any{p.Provider}
	}
	// As for other lists, no size, or a larger one than the server's limit, is that limit.
	largest := c.Tx.Repo().Limits().PageSize
	size := min(cmp.Or(max(p.PageSize, 0), largest), largest)
	offset, err := engine.Offset(max(p.Index, 0), size)
	if err != nil {
		return nil, err
	}
	page, err := search.Query(c.Tx, "SELECT * FROM SavedSearch WHERE ecm:isVersion = 0 AND ecm:isProxy = 0 AND ecm:isTrashed = 0"+where+" ORDER BY dc:title", search.Options{
		Args: args, PageOptions: storage.PageOptions{Limit: size, Offset: offset},
	})
	if err != nil {
		return nil, err
	}
	entries := make([]any, len(page.Docs))
	for i, d := range page.Docs {
		entries[i] = lists.entity(d)
	}
	pages := (page.Total + size - 1) / size
	if p.PageSize <= 0 {
		pages = max(pages, 1)
	}
	return map[string]any{
		"entity-type": "savedSearches", "isPaginable": true, "resultsCount": page.Total, "totalSize": page.Total, "pageSize": p.PageSize,
		"currentPageIndex": p.Index, "currentPageSize": len(entries), "numberOfPages": pages, "isNextPageAvailable": page.HasNext, "entries": entries,
	}, nil
}

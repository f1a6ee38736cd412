package search

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/search"
)

var list = engine.Op{
	Name:     "SavedSearch.List",
	Label:    "Saved Searches",
	Category: category,
	Doc:      "Returns a page of the saved searches that the caller may read, by title.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(listParams.run),
}

type listParams struct {
	Provider string `json:"pageProvider,omitzero" doc:"Only searches with this page provider."`
	PageSize int    `json:"pageSize" default:"50" doc:"Maximum number of entries per page."`
	Index    int    `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
}

func (p listParams) run(c *engine.Ctx, _ engine.Void) (any, error) {
	// Everyone's saved searches are in personal workspaces, so others see only those that are
	// shared with them: the query runs as the caller.
	where, args := "", []any(nil)
	if p.Provider != "" {
		where, args = " AND saved:pageProviderName = ?", []any{p.Provider}
	}
	page, err := search.Query(c.Tx, "SELECT * FROM SavedSearch WHERE ecm:isVersion = 0 AND ecm:isProxy = 0 AND ecm:isTrashed = 0"+where+" ORDER BY dc:title", search.Options{
		Args: args, PageOptions: storage.PageOptions{Limit: p.PageSize, Offset: max(p.Index, 0) * p.PageSize},
	})
	if err != nil {
		return nil, err
	}
	entries := make([]any, len(page.Docs))
	for i, d := range page.Docs {
		entries[i] = entity(d)
	}
	// Without a size there is one page, whose length the server's limit decides.
	pages := 1
	if p.PageSize > 0 {
		pages = (page.Total + p.PageSize - 1) / p.PageSize
	}
	return map[string]any{
		"entity-type": "savedSearches", "isPaginable": true, "resultsCount": page.Total, "totalSize": page.Total, "pageSize": p.PageSize,
		"currentPageIndex": p.Index, "currentPageSize": len(entries), "numberOfPages": pages, "isNextPageAvailable": page.HasNext, "entries": entries,
	}, nil
}

package resource

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/search"
)

// query filters by the permissions of the caller in storage, so any query may be sent: it finds
// what the caller may read and nothing else.
var query = engine.Op{
	Name:     "Resource.Query",
	Label:    "Query by Page",
	Category: "Resource",
	Doc:      "Runs a query of the query language and returns a page of the results.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(queryParams.run),
}

type queryParams struct {
	Query     string         `json:"query" default:"SELECT * FROM Document" names:"query" doc:"The query."`
	Args      []any          `json:"queryParams,omitzero" doc:"Values for the question marks, in order."`
	Named     map[string]any `json:"namedParameters,omitzero" doc:"Values for :name."`
	PageSize  int            `json:"pageSize" default:"0" doc:"Maximum number of entries per page; 0 means the server's limit."`
	Index     int            `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	Offset    int            `json:"offset" default:"0" doc:"Number of entries to skip; overrides the page number."`
	Max       int            `json:"maxResults" default:"0" doc:"Maximum number of entries on all pages together; 0 means no limit."`
	After     string         `json:"after,omitzero" doc:"Cursor: the nextCursor of the previous page; overrides the offset and the page number."`
	Count     int            `json:"countLimit" default:"0" doc:"Results are counted up to this number; 0 means the server's limit, -1 omits the total."`
	SortBy    []string       `json:"sortBy,omitzero" doc:"Fields to sort by, instead of the query's."`
	SortOrder []string       `json:"sortOrder,omitzero" doc:"Direction for each field: asc, or anything else for descending."`
	Highlight []string       `json:"highlight,omitzero" doc:"Fields in which the highlight enricher marks full-text matches; ecm:fulltext means all."`
}

func (p queryParams) run(c *engine.Ctx, _ engine.Void) (*storage.Page, error) {
	o, err := paging{p.PageSize, p.Index, p.Offset, p.Max, p.SortBy, p.SortOrder}.options(c.Tx.Repo().Limits().PageSize)
	if err != nil {
		return nil, err
	}
	// Counting is bounded (see countLimit). Deep pages should use the cursor, since an offset reads
	// everything before it.
	o.CountLimit, o.After = p.Count, p.After
	o.Args = make([]any, len(p.Args))
	for i, v := range p.Args {
		o.Args[i] = marker(c, v)
	}
	o.Named = make(map[string]any, len(p.Named))
	for name, v := range p.Named {
		o.Named[name] = marker(c, v)
	}
	page, err := search.Query(c.Tx, p.Query, o)
	if err == nil {
		page.Highlight = p.Highlight
	}
	return page, err
}

// marker replaces the words that stand for the caller and the repository.
// Only whole values are replaced, as in the platform. Parameters are bound and never become part of
// the query's text.
func marker(c *engine.Ctx, v any) any {
	switch v {
	case "$currentUser":
		return c.As.Name
	case "$currentRepository":
		return c.Tx.Repo().Name()
	}
	return v
}

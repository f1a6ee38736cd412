package resource

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// The words are a bound parameter, so nothing in them can extend the query.
const fullTextQuery = "SELECT * FROM Document WHERE ecm:fulltext = :text AND ecm:path STARTSWITH :path" +
	" AND ecm:isVersion = 0 AND ecm:isTrashed = 0"

var searchDocs = engine.Op{
	Name:     "Resource.Search",
	Label:    "Search",
	Category: "Resource",
	Doc:      "Runs a query, or searches for words below the document, and returns a page of the results.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(searchParams.run),
}

type searchParams struct {
	Query     string   `json:"query,omitzero" names:"query" doc:"A query of the query language."`
	FullText  string   `json:"fullText,omitzero" doc:"Words to search for below the document."`
	OrderBy   string   `json:"orderBy,omitzero" doc:"Field to sort the documents by."`
	PageSize  int      `json:"pageSize" default:"0" doc:"Maximum number of entries per page; 0 means the server's limit."`
	Index     int      `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	After     string   `json:"after,omitzero" doc:"Cursor: the nextCursor of the previous page; overrides the page number."`
	Max       int      `json:"maxResults" default:"0" doc:"Maximum number of entries on all pages together; 0 means no limit."`
	SortBy    []string `json:"sortBy,omitzero" doc:"Fields to sort by."`
	SortOrder []string `json:"sortOrder,omitzero" doc:"Direction for each field: asc, or anything else for descending."`
	Highlight []string `json:"highlight,omitzero" doc:"Fields in which the highlight enricher marks full-text matches; ecm:fulltext means all."`
}

func (p searchParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Page, error) {
	// orderBy, a parameter of @search, sorts ascending, unlike a sortBy without an order.
	if p.OrderBy != "" && len(p.SortBy) == 0 {
		p.SortBy, p.SortOrder = []string{p.OrderBy}, []string{"asc"}
	}
	o, err := paging{p.PageSize, p.Index, 0, p.Max, p.SortBy, p.SortOrder}.options(c.Tx.Repo().Limits().PageSize)
	switch {
	case err != nil:
		return nil, err
	case p.Query == "" && p.FullText == "":
		return nil, fault.Invalid.Errorf("query: query or fullText is required").In("query")
	case p.Query == "":
		p.Query, o.Named = fullTextQuery, map[string]any{"text": p.FullText, "path": d.Path()}
	}
	o.After = p.After
	// A query of the caller's is not limited to what is below the document.
	page, err := search.Query(c.Tx, p.Query, o)
	if err == nil {
		page.Highlight = p.Highlight
	}
	return page, err
}

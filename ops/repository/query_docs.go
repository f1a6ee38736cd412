package repository

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/search"
)

var queryDocs = engine.Op{
	Name:     "Repository.Query",
	Aliases:  []string{"Document.Query"},
	Label:    "Query",
	Category: "Fetch",
	Since:    "6.0",
	Doc: "Runs a query and returns a page of the documents it finds. Values for ? and :name are bound, never pasted into the text, " +
		"so quotePatternParameters and escapePatternParameters are ignored.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(queryParams.run),
}

type queryParams struct {
	Query     string        `json:"query" default:"SELECT * FROM Document" names:"query" doc:"The query."`
	Args      []string      `json:"queryParams,omitzero" alias:"searchTerm" doc:"Values for the question marks, in order."`
	Named     storage.Props `json:"namedParameters,omitzero" doc:"Values for :name."`
	PageSize  int           `json:"pageSize,omitzero" doc:"Maximum number of entries per page; by default the server's limit."`
	Index     int           `json:"currentPageIndex,omitzero" alias:"page" doc:"Number of the page, starting at 0."`
	Max       int           `json:"maxResults,omitzero" doc:"Maximum number of entries on all pages together; 0 means no limit."`
	SortBy    []string      `json:"sortBy,omitzero" names:"xpath" doc:"Fields to sort by, instead of the query's."`
	SortOrder []string      `json:"sortOrder,omitzero" values:"ASC,DESC" widget:"Option" doc:"Direction for each field: ASC, or anything else for descending."`
	Language  string        `json:"language" default:"NXQL" values:"NXQL" widget:"Option" doc:"Language of the query."`
	Quote     bool          `json:"quotePatternParameters" default:"true" unused:"true" doc:"Accepted but ignored: values are always bound."`
	Escape    bool          `json:"escapePatternParameters" default:"true" unused:"true" doc:"Accepted but ignored: values are always bound."`
}

func (p queryParams) run(c *engine.Ctx, _ engine.Void) (*storage.Page, error) {
	if err := checkLanguage(p.Language); err != nil {
		return nil, err
	}
	o, err := paging{p.PageSize, p.Index, 0, p.Max, p.SortBy, p.SortOrder}.options(c)
	if err != nil {
		return nil, err
	}
	o.Args, o.Named = positional(c, p.Args), named(c, p.Named)
	return search.Query(c.Tx, p.Query, o)
}

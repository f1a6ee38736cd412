package repository

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/search"
)

var resultSetQuery = engine.Op{
	Name:     "Repository.ResultSetQuery",
	Aliases:  []string{"ResultSet.PaginatedQuery"},
	Label:    "ResultSet Query",
	Category: "Fetch",
	Since:    "6.0",
	Doc:      "Runs a query and returns a page of rows, each holding the query's columns.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(resultSetQueryParams.run),
}

type resultSetQueryParams struct {
	Query     string        `json:"query" names:"query" doc:"The query, with the columns to return."`
	Args      []string      `json:"queryParams,omitzero" doc:"Values for the question marks, in order."`
	Named     storage.Props `json:"namedParameters,omitzero" doc:"Values for :name."`
	PageSize  int           `json:"pageSize,omitzero" doc:"Maximum number of rows per page; by default the server's limit."`
	Index     int           `json:"currentPageIndex,omitzero" doc:"Number of the page, starting at 0."`
	Max       int           `json:"maxResults,omitzero" doc:"Maximum number of rows on all pages together; 0 means no limit."`
	SortBy    []string      `json:"sortBy,omitzero" names:"xpath" doc:"Fields to sort by, instead of the query's."`
	SortOrder []string      `json:"sortOrder,omitzero" values:"ASC,DESC" widget:"Option" doc:"Direction for each field: ASC, or anything else for descending."`
	Language  string        `json:"language" default:"NXQL" values:"NXQL,CMIS" widget:"Option" doc:"Language of the query; only NXQL is known."`
}

func (p resultSetQueryParams) run(c *engine.Ctx, _ engine.Void) (*search.Rows, error) {
	if err := checkLanguage(p.Language); err != nil {
		return nil, err
	}
	o, err := paging{p.PageSize, p.Index, 0, p.Max, p.SortBy, p.SortOrder}.options(c)
	if err != nil {
		return nil, err
	}
	o.Args, o.Named = positional(c, p.Args), named(c, p.Named)
	return search.Select(c.Tx, p.Query, o)
}

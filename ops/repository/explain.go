package repository

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/search"
)

var explain = engine.Op{
	Name:     "Repository.Explain",
	Label:    "Explain Query",
	Category: "Fetch",
	Doc:      "Runs a query and explains how: the index it uses, the conditions checked on each document, what it reads, and the index that would make it cheap. For administrators only, because all of this depends on documents that others may not read.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(explainParams.run),
}

type explainParams struct {
	Query     string        `json:"query" names:"query" doc:"The query."`
	Args      []string      `json:"queryParams,omitzero" doc:"Values for the question marks, in order."`
	Named     storage.Props `json:"namedParameters,omitzero" doc:"Values for :name."`
	PageSize  int           `json:"pageSize,omitzero" doc:"Maximum number of entries per page."`
	SortBy    []string      `json:"sortBy,omitzero" names:"xpath" doc:"Fields to sort by, instead of the query's."`
	SortOrder []string      `json:"sortOrder,omitzero" doc:"Direction for each field: ASC, or anything else for descending."`
}

func (p explainParams) run(c *engine.Ctx, _ engine.Void) (string, error) {
	// The check is in storage/search, beside what it protects. The declaration says Anyone so that
	// other users get an error that explains itself and not that of an unknown operation.
	if err := search.MayExplain(c.Tx); err != nil {
		return "", err
	}
	o, err := paging{size: p.PageSize, sortBy: p.SortBy, sortOrder: p.SortOrder}.options(c)
	if err != nil {
		return "", err
	}
	o.Args, o.Named = positional(c, p.Args), named(c, p.Named)
	return search.Explain(c.Tx, p.Query, o)
}

package repository

import (
	"catena/engine"
	"catena/storage"
)

var explain = engine.Op{
	Name:     "Repository.Explain",
	Label:    "Explain Query",
	Category: "Fetch",
	Doc:      "Says how a query would run: which index it uses, what is checked on each document, and its bounds.",
	Effect:   engine.Reads,
	Run:      engine.On(explainParams.run),
}

type explainParams struct {
	Query     string        `json:"query" doc:"The query."`
	Args      []string      `json:"queryParams,omitzero" doc:"Values for the question marks, in order."`
	Named     storage.Props `json:"namedParameters,omitzero" doc:"Values for :name."`
	PageSize  int           `json:"pageSize,omitzero" doc:"Most entries of the page."`
	SortBy    []string      `json:"sortBy,omitzero" doc:"Fields to sort by instead of the query's."`
	SortOrder []string      `json:"sortOrder,omitzero" doc:"For each field ASC, or else descending."`
}

func (p explainParams) run(c *engine.Ctx, _ engine.Void) (string, error) {
	o, err := paging{size: p.PageSize, sortBy: p.SortBy, sortOrder: p.SortOrder}.options(c)
	if err != nil {
		return "", err
	}
	o.Args, o.Named = positional(c, p.Args), named(c, p.Named)
	return c.Tx.Explain(p.Query, o)
}

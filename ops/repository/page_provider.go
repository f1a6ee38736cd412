package repository

import (
	"catena/engine"
	"catena/storage"
)

func pageProvider(providers *Providers) engine.Op {
	return engine.Op{
		Name:     "Repository.PageProvider",
		Aliases:  []string{"Document.PageProvider"},
		Label:    "PageProvider",
		Category: "Fetch",
		Doc:      "Runs a named query and returns a page of the documents it finds. documentLinkBuilder is accepted and has no effect.",
		Effect:   engine.Reads,
		Open:     true,
		Run: engine.On(func(p pageProviderParams, c *engine.Ctx, _ engine.Void) (*storage.Page, error) {
			return p.run(c, providers)
		}),
	}
}

type pageProviderParams struct {
	Provider   string        `json:"providerName" doc:"Name of the page provider."`
	Args       []string      `json:"queryParams,omitzero" alias:"searchTerm" doc:"Values for the question marks, in order."`
	Named      storage.Props `json:"namedParameters,omitzero" doc:"Values for :name, and for the provider's fields."`
	PageSize   int           `json:"pageSize,omitzero" doc:"Most entries of the page; without it the provider's."`
	Index      int           `json:"currentPageIndex,omitzero" alias:"page" doc:"Number of the page, from 0."`
	Offset     int           `json:"offset,omitzero" doc:"Entries to leave out; wins over the page number."`
	SortBy     []string      `json:"sortBy,omitzero" doc:"Fields to sort by instead of the provider's."`
	SortOrder  []string      `json:"sortOrder,omitzero" values:"ASC,DESC" widget:"Option" doc:"For each field ASC, or else descending."`
	Quick      []string      `json:"quickFilters,omitzero" doc:"Names of the provider's quick filters to switch on."`
	Language   string        `json:"language" default:"NXQL" values:"NXQL" widget:"Option" doc:"Language of the query."`
	Highlights []string      `json:"highlights,omitzero" alias:"highlight" doc:"Fields, or ecm:fulltext for all, in which the enricher highlight marks what full text found."`
	Links      string        `json:"documentLinkBuilder,omitzero" doc:"Accepted, without effect."`
}

func (p pageProviderParams) run(c *engine.Ctx, providers *Providers) (*storage.Page, error) {
	if err := checkLanguage(p.Language); err != nil {
		return nil, err
	}
	found, err := providers.find(p.Provider)
	if err != nil {
		return nil, err
	}
	b, err := found.build(c, request{
		paging: paging{p.PageSize, p.Index, p.Offset, 0, p.SortBy, p.SortOrder},
		args:   p.Args, named: p.Named, filters: p.Quick,
	}, "")
	if err != nil {
		return nil, err
	}
	page, err := c.Tx.Query(b.src, b.options)
	if err != nil {
		return nil, err
	}
	page.Provider, page.Highlight = found.Name, p.Highlights
	if page.Extra, err = found.extra(c, b, p.Quick); err != nil {
		return nil, err
	}
	if found.Count == toPage && (page.More || page.Total > page.Limit) {
		page.Total, page.More = page.Limit, true
		page.HasNext = len(page.Docs) == page.Limit
	}
	return page, nil
}

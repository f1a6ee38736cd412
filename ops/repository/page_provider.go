package repository

import (
	"maps"

	"catena/engine"
	"catena/storage"
	"catena/storage/search"
)

func pageProvider(ps providers) engine.Op {
	return engine.Op{
		Name:     "Repository.PageProvider",
		Aliases:  []string{"Document.PageProvider"},
		Label:    "PageProvider",
		Category: "Fetch",
		Doc:      "Runs a named query and returns a page of the documents it finds. documentLinkBuilder is accepted but ignored.",
		Effect:   engine.Reads,
		Callers:  engine.Anyone,
		// Clients send parameters that are not declared, such as skipAggregates; they become
		// parameters of the chain, which provider.extra reads.
		Open:      true,
		Constants: map[string]func(string) error{"providerName": ps.known},
		Run: engine.On(func(p pageProviderParams, c *engine.Ctx, _ engine.Void) (*storage.Page, error) {
			return p.run(c, ps)
		}),
	}
}

type pageProviderParams struct {
	Provider   string        `json:"providerName" doc:"Name of the page provider."`
	Args       []string      `json:"queryParams,omitzero" alias:"searchTerm" doc:"Values for the question marks, in order."`
	Named      storage.Props `json:"namedParameters,omitzero" doc:"Values for :name, and for the provider's fields."`
	PageSize   *int          `json:"pageSize,omitzero" doc:"Maximum number of entries per page; by default the provider's, and the server's limit if it is 0 or less."`
	Index      int           `json:"currentPageIndex,omitzero" alias:"page" doc:"Number of the page, starting at 0."`
	Offset     int           `json:"offset,omitzero" doc:"Number of entries to skip; overrides the page number."`
	After      string        `json:"after,omitzero" doc:"Cursor: the nextCursor of the previous page; overrides the offset and the page number."`
	SortBy     []string      `json:"sortBy,omitzero" names:"xpath" doc:"Fields to sort by, instead of the provider's."`
	SortOrder  []string      `json:"sortOrder,omitzero" values:"ASC,DESC" widget:"Option" doc:"Direction for each field: ASC, or anything else for descending."`
	Quick      []string      `json:"quickFilters,omitzero" doc:"Names of the provider's quick filters to apply."`
	Language   string        `json:"language" default:"NXQL" values:"NXQL" widget:"Option" doc:"Language of the query."`
	Highlights []string      `json:"highlights,omitzero" alias:"highlight" doc:"Fields in which the highlight enricher marks full-text matches; ecm:fulltext means all."`
	Links      string        `json:"documentLinkBuilder,omitzero" unused:"true" doc:"Accepted but ignored."`
}

func (p pageProviderParams) run(c *engine.Ctx, ps providers) (*storage.Page, error) {
	if err := checkLanguage(p.Language); err != nil {
		return nil, err
	}
	found, err := ps.find(p.Provider)
	if err != nil {
		return nil, err
	}
	b, err := found.build(c, request{
		pageSize: p.PageSize, paging: paging{0, p.Index, p.Offset, 0, p.SortBy, p.SortOrder},
		args: p.Args, named: p.Named, filters: p.Quick,
	}, "")
	if err != nil {
		return nil, err
	}
	// It runs as the caller, so the page has only what the caller may read: a provider grants
	// nothing.
	// The figures come first: if they are of all results, the page is made of these.
	extra, err := found.extra(c, b, p.Quick)
	if err != nil {
		return nil, err
	}
	b.options.After = p.After
	page, err := search.Query(c.Tx, b.src, b.options)
	if err != nil {
		return nil, err
	}
	page.Provider, page.Highlight = found.Name, p.Highlights
	maps.Copy(extra, page.Extra)
	page.Extra = extra
	// A provider that counts only to the end of the page has no real total: the size of a page is
	// reported, marked as incomplete, and there is a next page if this one is full.
	if found.Count == toPage && (page.More || page.Total > page.Limit) {
		page.Total, page.More = page.Limit, true
		page.HasNext = len(page.Docs) == page.Limit
	}
	return page, nil
}

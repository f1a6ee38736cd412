package repository

import (
	"cmp"
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// plainColumns are what a row holds when a provider names no columns.
const plainColumns = "ecm:uuid, ecm:path, ecm:name, ecm:primaryType, dc:title"

func resultSetPageProvider(ps providers) engine.Op {
	return engine.Op{
		Name:      "Repository.ResultSetPageProvider",
		Aliases:   []string{"Resultset.PageProvider"},
		Label:     "QueryAndFetch",
		Category:  "Fetch",
		Doc:       "Runs a named query and returns a page of rows. Without columns in the provider, rows have id, path, name, type and title.",
		Effect:    engine.Reads,
		Callers:   engine.Anyone,
		Constants: map[string]func(string) error{"providerName": ps.known},
		Run: engine.On(func(p resultSetPageProviderParams, c *engine.Ctx, _ engine.Void) (*search.Rows, error) {
			return p.run(c, ps)
		}),
	}
}

type resultSetPageProviderParams struct {
	Provider  string        `json:"providerName,omitzero" doc:"Name of the page provider; required."`
	Args      []string      `json:"queryParams,omitzero" doc:"Values for the question marks, in order."`
	Named     storage.Props `json:"namedParameters,omitzero" doc:"Values for :name, and for the provider's fields."`
	PageSize  *int          `json:"pageSize,omitzero" doc:"Maximum number of rows per page; by default the provider's, and the server's limit if it is 0 or less."`
	Index     int           `json:"currentPageIndex,omitzero" alias:"page" doc:"Number of the page, starting at 0."`
	Max       string        `json:"maxResults" default:"100" doc:"Maximum number of rows on all pages together; 0 means no limit."`
	SortBy    []string      `json:"sortBy,omitzero" names:"xpath" doc:"Fields to sort by, instead of the provider's."`
	SortOrder []string      `json:"sortOrder,omitzero" values:"ASC,DESC" widget:"Option" doc:"Direction for each field: ASC, or anything else for descending."`
	Language  string        `json:"language" default:"NXQL" values:"NXQL,CMIS" widget:"Option" doc:"Language of the query; only NXQL is known."`
}

func (p resultSetPageProviderParams) run(c *engine.Ctx, ps providers) (*search.Rows, error) {
	if err := checkLanguage(p.Language); err != nil {
		return nil, err
	}
	if p.Provider == "" {
		return nil, fault.Invalid.Errorf("providerName: is missing").In("providerName")
	}
	found, err := ps.find(p.Provider)
	if err != nil {
		return nil, err
	}
	// The parameter is a text in the platform's declaration, and its clients send one.
	most, err := strconv.Atoi(strings.TrimSpace(p.Max))
	if err != nil {
		return nil, fault.Invalid.Errorf("maxResults: %q is not a number", p.Max).In("maxResults")
	}
	b, err := found.build(c, request{
		pageSize: p.PageSize, paging: paging{0, p.Index, 0, most, p.SortBy, p.SortOrder},
		args: p.Args, named: p.Named,
	}, cmp.Or(found.Select, plainColumns))
	if err != nil {
		return nil, err
	}
	rows, err := search.Select(c.Tx, b.src, b.options)
	if err == nil {
		rows.Provider = found.Name
	}
	return rows, err
}

package resource

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

const fullTextQuery = "SELECT * FROM Document WHERE ecm:fulltext = :text AND ecm:path STARTSWITH :path" +
	" AND ecm:isVersion = 0 AND ecm:isTrashed = 0"

var search = engine.Op{
	Name:     "Resource.Search",
	Label:    "Search",
	Category: "Resource",
	Doc:      "Runs a query, or looks for words below the document, and returns a page of what it finds.",
	Effect:   engine.Reads,
	Run:      engine.On(searchParams.run),
}

type searchParams struct {
	Query     string   `json:"query,omitzero" doc:"A query of the query language."`
	FullText  string   `json:"fullText,omitzero" doc:"Words to look for below the document."`
	OrderBy   string   `json:"orderBy,omitzero" doc:"Field to sort the documents by that hold the words."`
	PageSize  int      `json:"pageSize" default:"0" doc:"Most entries of the page; 0 is the largest allowed."`
	Index     int      `json:"currentPageIndex" default:"0" doc:"Number of the page, from 0."`
	Max       int      `json:"maxResults" default:"0" doc:"Most entries of all pages together; 0 is no bound."`
	SortBy    []string `json:"sortBy,omitzero" doc:"Fields to sort by."`
	SortOrder []string `json:"sortOrder,omitzero" doc:"For each field asc, or else descending."`
	Highlight []string `json:"highlight,omitzero" doc:"Fields, or ecm:fulltext for all, in which the enricher highlight marks what full text found."`
}

func (p searchParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Page, error) {
	if p.OrderBy != "" && len(p.SortBy) == 0 {
		p.SortBy, p.SortOrder = []string{p.OrderBy}, []string{"asc"}
	}
	o, err := paging{p.PageSize, p.Index, 0, p.Max, p.SortBy, p.SortOrder}.options()
	switch {
	case err != nil:
		return nil, err
	case p.Query == "" && p.FullText == "":
		return nil, fault.Invalid.Errorf("query: neither query nor fullText given").In("query")
	case p.Query == "":
		p.Query, o.Named = fullTextQuery, map[string]any{"text": p.FullText, "path": d.Path()}
	}
	page, err := c.Tx.Query(p.Query, o)
	if err == nil {
		page.Highlight = p.Highlight
	}
	return page, err
}

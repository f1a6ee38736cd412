package control

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// maxPages bounds the pages of one query. It bounds the ids that are held: at the default page limit of
// 1,000 documents that is ten million.
const maxPages = 10_000

var runOperationOnProvider = engine.Op{
	Name:     "RunOperationOnProvider",
	Aliases:  []string{"Context.RunOperationOnProvider"},
	Label:    "Run For Each Page",
	Category: "Execution Flow",
	Doc: "Runs an operation or chain once for each page of the query that produced the input, starting with the input's page, with the page " +
		"as input. All pages are read before the first run, so a run may change what the query finds. Returns nothing.",
	Callers: engine.Anyone,
	Run:     engine.On(runOnProviderParams.run).As("documents", "void"),
}

type runOnProviderParams struct {
	ID      string `json:"id" names:"operation" doc:"Name of the operation or chain."`
	Isolate bool   `json:"isolate" default:"true" doc:"Use a copy of the context variables."`
}

func (p runOnProviderParams) run(c *engine.Ctx, in any) (any, error) {
	first, ok := in.(*storage.Page)
	if !ok || first == nil {
		return nil, fault.Invalid.Errorf("input: must be a page of query results").In("input")
	}
	// The ids of all pages are gathered before the first run, since a run may change what the query
	// finds and so shift the pages after it. The documents themselves are read page by page, as
	// they are by then.
	pages, err := pagesFrom(c, first)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		fresh := *page.figures
		if fresh.Docs, err = page.load(c); err != nil {
			return nil, err
		}
		if _, err := (inner{id: p.ID, isolate: p.Isolate}).run(c, &fresh); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// pageOf is a page without its documents, which are read when its turn comes.
type pageOf struct {
	figures *storage.Page
	ids     storage.Refs
}

func pagesFrom(c *engine.Ctx, page *storage.Page) ([]pageOf, error) {
	var pages []pageOf
	for page != nil {
		if len(pages) == maxPages {
			return nil, fault.Limit.Errorf("query: has more than %d pages", maxPages).WithCode(fault.CodePages)
		}
		ids := make(storage.Refs, len(page.Docs))
		for i, d := range page.Docs {
			ids[i] = d.Ref()
		}
		figures := *page
		figures.Docs = nil
		pages = append(pages, pageOf{&figures, ids})
		var err error
		if page, err = search.Next(c.Tx, page); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// load reads the documents of a page, without those that are gone now.
func (p pageOf) load(c *engine.Ctx) (storage.Docs, error) {
	docs := make(storage.Docs, 0, len(p.ids))
	for _, id := range p.ids {
		d, err := c.Tx.Doc(id)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

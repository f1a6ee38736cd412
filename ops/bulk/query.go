package bulk

import (
	"maps"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// Documents of one page as the search reads it; the ids of all pages are kept, the documents are
// not.
const page = 1000

// ids finds the documents of a command, in one snapshot. One snapshot means that each document is found
// once, whatever others move or change between the pages.
func (q *query) ids(c *engine.Ctx) ([]string, error) {
	if q.IDs != nil {
		return q.IDs, nil
	}
	p, err := q.first(c)
	if err == nil && search.IsPlan(p) {
		return nil, fault.Invalid.Errorf("query: EXPLAIN says how a query runs, and finds no documents").In("query")
	}
	var ids []string
	for ; p != nil && err == nil; p, err = search.Next(c.Tx, p) {
		for _, d := range p.Docs {
			if !slices.Contains(q.Except, d.ID()) {
				ids = append(ids, d.ID())
			}
		}
		if len(ids) > maxDocs {
			return nil, fault.Limit.Errorf("bulk: more than %d documents", maxDocs)
		}
	}
	return ids, err
}

// first is the first page of the query.
func (q *query) first(c *engine.Ctx) (*storage.Page, error) {
	if q.Provider == "" {
		// Nobody sees the total of the query, so it is not counted: the length of the list is the
		// total.
		o := search.Options{Named: q.Named, PageOptions: storage.PageOptions{Limit: page, CountLimit: -1}}
		for _, a := range q.Args {
			o.Args = append(o.Args, a)
		}
		return search.Query(c.Tx, q.Text, o)
	}
	// The copies keep the provider, which adds its own parameters to the map, from changing the
	// stored command.
	params := map[string]any{"providerName": q.Provider, "pageSize": page}
	if q.Args != nil {
		params["queryParams"] = q.Args
	}
	if q.Named != nil {
		params["namedParameters"] = maps.Clone(q.Named)
	}
	if q.Filters != nil {
		params["quickFilters"] = q.Filters
	}
	v, err := c.Call("Repository.PageProvider", nil, params)
	if err != nil {
		return nil, err
	}
	p, ok := v.(*storage.Page)
	if !ok {
		return nil, fault.Invalid.Errorf("page provider %s: does not return documents", q.Provider).In("providerName")
	}
	return p, nil
}

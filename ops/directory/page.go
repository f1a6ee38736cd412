package directory

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

var page = engine.Op{
	Name:     "Directory.Page",
	Label:    "Directory by Page",
	Category: category,
	Doc:      "Returns a page of a directory's entries, by default in the order of the declaration, then by id.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(pageParams.run),
}

type pageParams struct {
	Directory string        `json:"directory" doc:"Name of the directory."`
	Filters   storage.Props `json:"filters,omitzero" doc:"Only entries with these values, by field."`
	PageSize  int           `json:"pageSize" default:"50" doc:"Maximum number of entries per page."`
	Index     int           `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	Offset    int           `json:"offset" default:"0" doc:"Number of entries to skip; overrides the page number."`
	SortBy    []string      `json:"sortBy,omitzero" doc:"Fields to sort by."`
	SortOrder []string      `json:"sortOrder,omitzero" doc:"Direction for each field: asc or desc."`
}

func (p pageParams) run(c *engine.Ctx, _ engine.Void) (*record.Page, error) {
	d, err := record.In(c.Tx, p.Directory)
	if err != nil {
		return nil, err
	}
	for _, n := range [...]struct {
		name  string
		value int
	}{{"pageSize", p.PageSize}, {"offset", p.Offset}} {
		if n.value < 0 {
			return nil, fault.Invalid.Errorf("%s: must be at least 0", n.name).In(n.name)
		}
	}
	if p.PageSize == 0 {
		p.PageSize = 50
	}
	// A larger size is reduced rather than refused, so the page number below counts pages of the
	// reduced size.
	size := min(p.PageSize, c.Tx.Repo().Limits().PageSize)
	q := record.Query{Equal: p.Filters, PageOptions: storage.PageOptions{Limit: size, Offset: p.Offset}}
	if q.Offset == 0 {
		if q.Offset, err = engine.Offset(p.Index, size); err != nil {
			return nil, err
		}
	}
	// Ascending by default, unlike lists of documents.
	for i, name := range p.SortBy {
		q.Sort = append(q.Sort, storage.SortKey{Field: name, Desc: i < len(p.SortOrder) && p.SortOrder[i] == "desc"})
	}
	return d.Find(q)
}

package resource

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/search"
)

// childrenPage is the size of a page of children unless another one is asked for.
// 50 is what the platform's provider of children declares.
const childrenPage = 50

// The query is that of the platform's provider CURRENT_DOC_CHILDREN.
const childrenQuery = "SELECT * FROM Document WHERE ecm:parentId = :parent AND ecm:mixinType != 'HiddenInNavigation'" +
	" AND ecm:isVersion = 0 AND ecm:isTrashed = 0 ORDER BY dc:title"

var children = engine.Op{
	Name:     "Resource.Children",
	Label:    "Children by Page",
	Category: "Resource",
	Doc:      "Returns a page of the document's children that are neither hidden nor trashed, sorted by title. If the children do not fit on one page, they are not counted: a full page means that there may be another.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(childrenParams.run),
}

type childrenParams struct {
	PageSize  int      `json:"pageSize" default:"50" doc:"Maximum number of entries per page."`
	Index     int      `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	Offset    int      `json:"offset" default:"0" doc:"Number of entries to skip; overrides the page number."`
	After     string   `json:"after,omitzero" doc:"Cursor: the nextCursor of the previous page; overrides the offset and the page number."`
	SortBy    []string `json:"sortBy,omitzero" doc:"Fields to sort by."`
	SortOrder []string `json:"sortOrder,omitzero" doc:"Direction for each field: asc, or anything else for descending."`
	Max       int      `json:"maxResults" default:"0" doc:"Maximum number of entries on all pages together; 0 means no limit."`
}

func (p childrenParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Page, error) {
	if p.PageSize <= 0 {
		p.PageSize = childrenPage
	}
	o, err := paging{p.PageSize, p.Index, p.Offset, p.Max, p.SortBy, p.SortOrder}.options(c.Tx.Repo().Limits().PageSize)
	if err != nil {
		return nil, err
	}
	o.After, o.Named = p.After, map[string]any{"parent": d.ID()}
	// Counting stops after one page, since a folder may hold millions of documents and every page
	// would count them again.
	o.CountLimit = o.Limit
	page, err := search.Query(c.Tx, childrenQuery, o)
	if err != nil {
		return nil, err
	}
	page.Provider = "CURRENT_DOC_CHILDREN"
	// The total is a lower bound then, and whether another page exists is guessed from this one
	// being full.
	if page.More || page.Total > o.Limit {
		page.Total, page.More = o.Limit, true
		page.HasNext = len(page.Docs) == o.Limit
	}
	return page, nil
}

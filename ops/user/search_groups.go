package user

import (
	"catena/engine"
	"catena/storage/people"
)

var searchGroups = engine.Op{
	Name:     "Group.Search",
	Label:    "Search Groups",
	Category: "Users & Groups",
	Doc:      "Returns a page of the groups whose name or label begins with a text, sorted by name in any case.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(searchGroupsParams.run),
}

type searchGroupsParams struct {
	Text     string `json:"q,omitzero" doc:"Prefix of the name; * for all."`
	PageSize int    `json:"pageSize" default:"50" doc:"Maximum number of entries per page."`
	Index    int    `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	After    string `json:"after,omitzero" doc:"Cursor: the nextCursor of the previous page; overrides the page number."`
}

func (p searchGroupsParams) run(c *engine.Ctx, _ engine.Void) (*people.GroupPage, error) {
	o, err := options(c, p.PageSize, p.Index, p.After)
	if err != nil {
		return nil, err
	}
	return people.SearchGroups(c.Tx, p.Text, o)
}

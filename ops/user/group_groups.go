package user

import (
	"catena/engine"
	"catena/storage/people"
)

var groupGroups = engine.Op{
	Name:     "Group.Groups",
	Label:    "Groups of Group",
	Category: "Users & Groups",
	Doc:      "Returns a page of the groups that a group contains directly, sorted by name.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(groupGroupsParams.run),
}

type groupGroupsParams struct {
	Name     string `json:"name" doc:"Name of the group."`
	Text     string `json:"q,omitzero" doc:"Prefix of the name; * for all."`
	PageSize int    `json:"pageSize" default:"50" doc:"Maximum number of entries per page."`
	Index    int    `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	After    string `json:"after,omitzero" doc:"Cursor: the nextCursor of the previous page; overrides the page number."`
}

func (p groupGroupsParams) run(c *engine.Ctx, _ engine.Void) (*people.GroupPage, error) {
	o, err := options(c, p.PageSize, p.Index, p.After)
	if err != nil {
		return nil, err
	}
	return people.MemberGroups(c.Tx, p.Name, p.Text, o)
}

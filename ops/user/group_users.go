package user

import (
	"catena/engine"
	"catena/storage/people"
)

var groupUsers = engine.Op{
	Name:     "Group.Users",
	Label:    "Users of Group",
	Category: "Users & Groups",
	Doc:      "Returns a page of the direct members of a group, sorted by name.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(groupUsersParams.run),
}

type groupUsersParams struct {
	Name     string `json:"name" doc:"Name of the group."`
	Text     string `json:"q,omitzero" doc:"Prefix of the name; * for all."`
	PageSize int    `json:"pageSize" default:"50" doc:"Maximum number of entries per page."`
	Index    int    `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	After    string `json:"after,omitzero" doc:"Cursor: the nextCursor of the previous page; overrides the page number."`
}

func (p groupUsersParams) run(c *engine.Ctx, _ engine.Void) (*people.UserPage, error) {
	o, err := options(c, p.PageSize, p.Index, p.After)
	if err != nil {
		return nil, err
	}
	return people.MemberUsers(c.Tx, p.Name, p.Text, o)
}

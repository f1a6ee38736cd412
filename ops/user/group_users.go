package user

import (
	"catena/engine"
	"catena/storage"
)

var groupUsers = engine.Op{
	Name:     "Group.Users",
	Label:    "Users of Group",
	Category: "Users & Groups",
	Doc:      "Returns a page of the users who are in a group directly, by name.",
	Effect:   engine.Reads,
	Run:      engine.On(groupUsersParams.run),
}

type groupUsersParams struct {
	Name     string `json:"name" doc:"Name of the group."`
	Text     string `json:"q,omitzero" doc:"Text that a name begins with; * for all."`
	PageSize int    `json:"pageSize" default:"50" doc:"Most entries of the page."`
	Index    int    `json:"currentPageIndex" default:"0" doc:"Number of the page, from 0."`
}

func (p groupUsersParams) run(c *engine.Ctx, _ engine.Void) (*storage.UserPage, error) {
	o, err := options(c, p.PageSize, p.Index)
	if err != nil {
		return nil, err
	}
	return c.Tx.MemberUsers(p.Name, p.Text, o)
}

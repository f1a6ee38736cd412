package user

import (
	"catena/engine"
	"catena/storage/people"
)

var searchUsers = engine.Op{
	Name:     "User.Search",
	Label:    "Search Users",
	Category: "Users & Groups",
	Doc:      "Returns a page of the users whose name, first name, last name or email address begins with a text, sorted by name in any case.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(searchUsersParams.run),
}

type searchUsersParams struct {
	Text     string `json:"q,omitzero" doc:"Text to search for; * for all."`
	PageSize int    `json:"pageSize" default:"50" doc:"Maximum number of users per page."`
	Index    int    `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	After    string `json:"after,omitzero" doc:"Cursor: the nextCursor of the previous page; overrides the page number."`
}

func (p searchUsersParams) run(c *engine.Ctx, _ engine.Void) (*people.UserPage, error) {
	o, err := options(c, p.PageSize, p.Index, p.After)
	if err != nil {
		return nil, err
	}
	return people.SearchUsers(c.Tx, p.Text, o)
}

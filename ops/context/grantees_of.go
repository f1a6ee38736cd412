package context

import (
	"catena/engine"
	"catena/storage"
)

var granteesOn = engine.Op{
	Name:     "Context.GetUsersGroupIdsWithPermissionOnDoc",
	Aliases:  []string{"Document.GetUsersAndGroups"},
	Label:    "Get Users and Groups",
	Category: "Users & Groups",
	Doc:      "Stores the names of the users and groups that have a permission on the document in a context variable, and returns the document.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(granteesOnParams.run),
}

type granteesOnParams struct {
	Permission string `json:"permission" names:"permission" doc:"The permission; permissions that imply it count too."`
	Variable   string `json:"variable name" blamed:"name" names:"variable" doc:"Name of the variable."`
	Ignore     bool   `json:"ignore groups" default:"false" doc:"Ignore groups."`
	Prefix     bool   `json:"prefix identifiers" default:"false" doc:"Prefix the names with user: or group:."`
	Resolve    bool   `json:"resolve groups" default:"false" doc:"Replace groups by their members."`
}

func (p granteesOnParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	g, err := granteesOf(c, d, p.Permission, p.Ignore, p.Resolve)
	if err != nil {
		return nil, err
	}
	user, group := "", ""
	if p.Prefix {
		user, group = "user:", "group:"
	}
	names := []any{}
	for _, name := range g.users {
		names = append(names, user+name)
	}
	for _, name := range g.groups {
		names = append(names, group+name)
	}
	return d, assign(c, p.Variable, names)
}

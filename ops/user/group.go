package user

import (
	"catena/storage"
)

// groupObject is a group as operations show it.
func groupObject(g *storage.Group) map[string]any {
	return map[string]any{
		"groupname": g.Name, "grouplabel": g.Label, "description": g.Description,
		"memberUsers": names(g.Users), "memberGroups": names(g.Groups),
	}
}

func names(list []string) []any {
	all := make([]any, len(list))
	for i, name := range list {
		all[i] = name
	}
	return all
}

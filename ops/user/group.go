package user

import (
	"catena/engine"
	"catena/storage/people"
)

// groupObject is a group as operations show it.
func groupObject(g *people.Group) map[string]any {
	return map[string]any{
		"groupname": g.Name, "grouplabel": g.Label, "description": g.Description,
		// Only direct members; those of groups within are not expanded.
		"memberUsers": engine.List(g.Users), "memberGroups": engine.List(g.Groups),
	}
}

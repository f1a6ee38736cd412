package user

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/people"
)

// groupObject is a group as operations show it.
// groupResult is the schema of groupObject.
var groupResult = openapi.Fields("groupname grouplabel description memberUsers:array memberGroups:array", true)

func groupObject(g *people.Group) map[string]any {
	return map[string]any{
		"groupname": g.Name, "grouplabel": g.Label, "description": g.Description,
		// Only direct members; those of groups within are not expanded.
		"memberUsers": engine.List(g.Users), "memberGroups": engine.List(g.Groups),
	}
}

package user

import (
	"catena/engine"
	"catena/storage/people"
)

// userDocument is a user in the form of a document of the schema user, as the platform's signatures promise. It is stored
// nowhere among the documents: its identifier is the user's name.
func userDocument(c *engine.Ctx, u *people.User) map[string]any {
	groups := make([]any, len(u.Groups))
	for i, name := range u.Groups {
		groups[i] = name
	}
	return entryDocument(c, "user", u.Username, map[string]any{
		"username": u.Username, "firstName": textOrNil(u.FirstName), "lastName": textOrNil(u.LastName),
		"company": textOrNil(u.Company), "email": textOrNil(u.Email), "groups": groups,
	})
}

// groupDocument is a group in the same form.
func groupDocument(c *engine.Ctx, g *people.Group) map[string]any {
	return entryDocument(c, "group", g.Name, map[string]any{
		"groupname": g.Name, "grouplabel": textOrNil(g.Label), "description": textOrNil(g.Description),
	})
}

// entryDocument has all members that the platform writes for a document, also those that have no meaning for
// users.
// The platform answers with a document model of the directory, which its clients decode like any
// other document.
func entryDocument(c *engine.Ctx, schema, id string, values map[string]any) map[string]any {
	// Members of a document that users do not have are null rather than missing: clients read them without
	// asking.
	properties := make(map[string]any, len(values))
	for name, v := range values {
		properties[schema+":"+name] = v
	}
	return map[string]any{
		"entity-type": "document", "repository": c.Tx.Repo().Name(), "uid": id, "path": nil, "type": schema, "state": nil,
		"parentRef": nil, "isCheckedOut": false, "isRecord": false, "retainUntil": nil, "hasLegalHold": false,
		"isUnderRetentionOrLegalHold": false, "isVersion": false, "isProxy": false, "isTrashed": false, "changeToken": nil, "title": id, "facets": []any{}, "properties": properties,
		"schemas": []any{map[string]any{"name": schema, "prefix": schema}},
	}
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

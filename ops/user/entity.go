package user

import (
	"fmt"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// setUser changes a user as an entity says: properties that are there count, null clears, and all others
// stay. It returns the new password, "" if there is none. What users do not have is ignored, since clients
// send back whole entities, with members that the server computes; the caller is told.
func setUser(c *engine.Ctx, u *people.User, body map[string]any) (password string, err error) {
	properties, err := entityProperties(body, "user")
	if err != nil {
		return "", err
	}
	for name, v := range properties {
		switch name = strings.TrimPrefix(name, "user:"); name {
		// The name is the identity and cannot be changed; there is one tenant.
		case "username", "tenantId":
		// Entities never contain the stored password, so an entity that is sent back as it was read
		// does not change it.
		case "password":
			password, _ = v.(string)
		case "groups":
			if u.Groups, err = nameList(v, name); err != nil {
				return "", err
			}
		default:
			// Entities contain members that the server computes, such as isAdministrator; sending them back
			// is not a mistake.
			if texts(u)[name] == nil && name != "teamId" {
				c.Ignore(name)
				continue
			}
			// A field that is known but has a bad value is an error, unlike a field that is not
			// known.
			if err := setField(u, name, v); err != nil {
				return "", err
			}
		}
	}
	return password, nil
}

// entityProperties checks what kind of entity a body is and returns its properties, nil if it has none. A
// body without entity-type is accepted.
func entityProperties(body map[string]any, kind string) (map[string]any, error) {
	if got, ok := body["entity-type"].(string); ok && got != kind {
		return nil, fault.Invalid.Errorf("entity-type: must be %s, not %q", kind, got).In("entity-type")
	}
	properties, ok := body["properties"].(map[string]any)
	if !ok && body["properties"] != nil {
		return nil, fault.Invalid.Errorf("properties: must be an object").In("properties")
	}
	return properties, nil
}

// nameList reads a list of names; null is an empty one, and a single name a list of one.
func nameList(v any, field string) ([]string, error) {
	if v == nil {
		return []string{}, nil
	}
	if name, ok := v.(string); ok {
		if name == "" {
			return []string{}, nil
		}
		return []string{name}, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fault.Invalid.Errorf("%s: must be a list of names", field).In(field)
	}
	names := make([]string, len(list))
	for i, item := range list {
		// Extended groups come as objects if the client has fetched them that way.
		if m, ok := item.(map[string]any); ok {
			item = firstText(m["id"], m["groupname"])
		}
		if names[i], ok = item.(string); !ok {
			return nil, fault.Invalid.Errorf("%s: must be a list of names", field).In(field)
		}
	}
	return names, nil
}

// firstText returns the first of values that is a text with something in it.
// "" means that there is none.
func firstText(list ...any) string {
	for _, v := range list {
		if s, ok := v.(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// userName returns the name in the entity of a user: the property counts before the id, which clients fill in
// differently; "" if there is none.
func userName(body map[string]any) string {
	properties, _ := body["properties"].(map[string]any)
	return firstText(properties["username"], properties["user:username"], body["id"])
}

// groupName returns the name in the entity of a group.
// Here the member beside the properties counts first, unlike for users: it is where the platform's
// entities of groups have the name.
func groupName(body map[string]any) string {
	properties, _ := body["properties"].(map[string]any)
	return firstText(body["groupname"], body["id"], properties["groupname"], properties["group:groupname"])
}

// setGroup changes a group as an entity says, and returns the groups that it is to be in, nil if the entity
// does not say. The label that differs from the stored one counts; for a new group the one beside the
// properties goes before.
func setGroup(g *people.Group, body map[string]any, fresh bool) (parents []string, err error) {
	properties, err := entityProperties(body, "group")
	if err != nil {
		return nil, err
	}
	// The label stands twice in an entity of the platform, beside the properties and among them, and a client
	// may change either.
	// What equals the stored label was most likely sent back unchanged, so the other one is the
	// change.
	stored := g.Label
	if v, ok := body["grouplabel"]; ok {
		g.Label = text(v)
	}
	for name, v := range properties {
		switch strings.TrimPrefix(name, "group:") {
		case "grouplabel":
			if inner := text(v); inner != stored && (!fresh || g.Label == "") {
				g.Label = inner
			}
		case "description":
			g.Description = text(v)
		}
	}
	// A list replaces the stored one; null and an empty list remove all members.
	for name, into := range map[string]*[]string{"memberUsers": &g.Users, "memberGroups": &g.Groups, "parentGroups": &parents} {
		if v, ok := body[name]; ok {
			if *into, err = nameList(v, name); err != nil {
				return nil, err
			}
		}
	}
	return parents, nil
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// options are the bounds of a page: 50 entries by default; a negative size, or one above the server's limit,
// is that limit.
// 50 is the platform's size of a page of users or groups.
func options(c *engine.Ctx, size, index int, after string) (storage.PageOptions, error) {
	largest := c.Tx.Repo().Limits().PageSize
	switch {
	case size == 0:
		size = 50
	case size < 0:
		size = largest
	}
	size = min(size, largest)
	offset, err := engine.Offset(index, size)
	return storage.PageOptions{Limit: size, Offset: offset, After: after}, err
}

// mayEdit refuses those who do not look after users.
// It gives the platform's message early. Which users and groups a power user may change is for
// storage/people to decide.
func mayEdit(c *engine.Ctx) error {
	if !manages(c.As) {
		return fault.Denied.Errorf("User is not allowed to edit users")
	}
	return nil
}

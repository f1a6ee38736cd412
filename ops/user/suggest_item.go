package user

import (
	"strings"

	"catena/engine"
	"catena/storage/people"
)

// userItem has the fields that the entity of a user has; what an account costs is nobody else's.
func (p suggestParams) userItem(u *people.User) map[string]any {
	item := p.item("user", "USER_TYPE", u.Username)
	item["username"], item["firstName"], item["lastName"] = u.Username, u.FirstName, u.LastName
	item["email"], item["company"], item["groups"] = u.Email, u.Company, engine.List(u.Groups)
	var parts []string
	// The names of the fields come from the request. Only texts of the item can be shown, so
	// nothing that the item lacks leaks through a label.
	add := func(hidden bool, field, usual string) {
		if field == "" {
			field = usual
		}
		if s, _ := item[field].(string); s != "" && !hidden {
			parts = append(parts, s)
		}
	}
	add(p.HideFirst, p.FirstField, "firstName")
	add(p.HideSecond, p.SecondField, "lastName")
	if len(parts) == 0 {
		parts = append(parts, u.Username)
	}
	// The address is added only on request, so labels do not publish it by default.
	if p.Email || p.ThirdField != "" {
		add(p.HideThird, p.ThirdField, "email")
	}
	item["displayLabel"] = strings.Join(parts, " ")
	return item
}

func (p suggestParams) groupItem(g *people.Group) map[string]any {
	item := p.item("group", "GROUP_TYPE", g.Name)
	item["groupname"], item["grouplabel"], item["description"] = g.Name, g.Label, g.Description
	label := g.Label
	if s, ok := item[p.FirstField].(string); ok {
		label = s
	}
	if label == "" || p.HideFirst {
		label = g.Name
	}
	item["displayLabel"] = label
	return item
}

// item has what entries for users and groups have in common.
func (p suggestParams) item(kind, typ, id string) map[string]any {
	item := map[string]any{"entity-type": kind, "type": typ, "id": id, "prefixed_id": kind + ":" + id}
	if !p.HideIcon {
		item["displayIcon"] = true
	}
	return item
}

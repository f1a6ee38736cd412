package user

import (
	"encoding/json"

	"catena/engine"
	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/people"
)

// maxQueried bounds the users of one answer.
const maxQueried = 1000

var queryUsers = engine.Op{
	Name:     "User.Query",
	Aliases:  []string{"Services.QueryUsers"},
	Label:    "Query users",
	Category: "Users & Groups",
	Doc: "Returns JSON with the users whose user name, first name and last name begin with the given texts, or any of whose names begins with the pattern; " +
		"at most 1,000. There are no tenants, so tenantId never matches.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(queryUsersParams.run),
}

type queryUsersParams struct {
	FirstName string `json:"firstName,omitzero" doc:"Prefix of the first name."`
	LastName  string `json:"lastName,omitzero" doc:"Prefix of the last name."`
	Pattern   string `json:"pattern,omitzero" doc:"Prefix of any name or of the email address."`
	Tenant    string `json:"tenantId,omitzero" doc:"Tenant of the user."`
	Username  string `json:"username,omitzero" doc:"Prefix of the user name."`
}

func (p queryUsersParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	users, err := p.find(c)
	if err != nil {
		return nil, err
	}
	entries := make([]map[string]any, len(users))
	for i, u := range users {
		entries[i] = map[string]any{
			"username": u.Username, "firstName": u.FirstName, "lastName": u.LastName, "email": u.Email, "company": u.Company, "tenantId": nil,
		}
	}
	raw, err := json.Marshal(map[string]any{"users": entries})
	if err != nil {
		return nil, err
	}
	return engine.NewBlob("users.json", "application/json", raw), nil
}

// find searches all fields for the pattern, or each given field for its own text. There is one tenant, so asking for another finds nobody.
func (p queryUsersParams) find(c *engine.Ctx) ([]*people.User, error) {
	first := storage.PageOptions{Limit: maxQueried, CountLimit: -1}
	starts := map[string]string{}
	for field, text := range map[string]string{"firstName": p.FirstName, "lastName": p.LastName, "username": p.Username} {
		if text != "" {
			starts[field] = text
		}
	}
	switch {
	// There is one tenant without a name, so nobody is in the one asked for.
	case p.Tenant != "":
		return nil, nil
	// A pattern takes precedence over the fields.
	case len(starts) == 0 || p.Pattern != "":
		page, err := people.SearchUsers(c.Tx, p.Pattern, first)
		if err != nil {
			return nil, err
		}
		return page.Users, nil
	}
	d, err := record.In(c.Tx, "userDirectory")
	if err != nil {
		return nil, err
	}
	// All given fields must match.
	page, err := d.Find(record.Query{Starts: starts, PageOptions: first})
	if err != nil {
		return nil, err
	}
	users := make([]*people.User, 0, len(page.Entries))
	for _, e := range page.Entries {
		u, err := people.Lookup(c.Tx, e.ID)
		if err != nil {
			return nil, err
		}
		users = append(users, u)
	}
	return users, nil
}

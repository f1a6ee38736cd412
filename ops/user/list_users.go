package user

import (
	"encoding/json"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/people"
)

var listUsers = engine.Op{
	Name:     "User.List",
	Label:    "Users",
	Category: "Users & Groups",
	Doc:      "Returns the users whose name, first name, last name or email address contains a text, by default all users. It fails if there are more than 1,000.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.List(openapi.Ref("User")),
	Run:      engine.On(listUsersParams.run),
}

type listUsersParams struct {
	Text string `json:"q,omitzero" doc:"Text to search for."`
}

func (p listUsersParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	table, err := people.UserTable(c.Tx)
	if err != nil {
		return nil, err
	}
	names, err := search(table, func(name string, row json.RawMessage) (bool, error) {
		var u people.User
		err := json.Unmarshal(row, &u)
		return matches(p.Text, name, u.FirstName, u.LastName, u.Email), err
	})
	if err != nil {
		return nil, err
	}
	// The rows of the table lack the groups.
	users, err := people.LookupAll(c.Tx, names)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(users))
	for i, u := range users {
		out[i] = u
	}
	return out, nil
}

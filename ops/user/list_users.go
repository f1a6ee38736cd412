package user

import (
	"encoding/json"

	"catena/engine"
	"catena/storage"
)

var listUsers = engine.Op{
	Name:     "User.List",
	Label:    "Users",
	Category: "Users & Groups",
	Doc:      "Returns the users whose name, first name, last name or address holds a text, all of them without one. More than 1,000 are an error: look for something narrower.",
	Effect:   engine.Reads,
	Run:      engine.On(listUsersParams.run),
}

type listUsersParams struct {
	Text string `json:"q,omitzero" doc:"Text to look for."`
}

func (p listUsersParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	table, err := c.Tx.Users()
	if err != nil {
		return nil, err
	}
	names, err := search(table, func(name string, row json.RawMessage) (bool, error) {
		var u storage.User
		err := json.Unmarshal(row, &u)
		return matches(p.Text, name, u.FirstName, u.LastName, u.Email), err
	})
	if err != nil {
		return nil, err
	}
	users := make([]any, len(names))
	for i, name := range names {
		if users[i], err = c.Tx.User(name); err != nil {
			return nil, err
		}
	}
	return users, nil
}

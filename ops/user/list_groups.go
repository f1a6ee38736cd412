package user

import (
	"encoding/json"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/people"
)

// listGroups finds a text anywhere in a name and reads the whole table for it, unlike Group.Search,
// which has an index for beginnings of names.
var listGroups = engine.Op{
	Name:     "Group.List",
	Label:    "Groups",
	Category: "Users & Groups",
	Doc:      "Returns the groups whose name or label contains a text, by default all groups, with their direct members. It fails if there are more than 1,000.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.List(groupResult),
	Run:      engine.On(listGroupsParams.run),
}

type listGroupsParams struct {
	Text string `json:"q,omitzero" doc:"Text to search for."`
}

func (p listGroupsParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	table, err := people.GroupTable(c.Tx)
	if err != nil {
		return nil, err
	}
	found, err := search(table, func(name string, row json.RawMessage) (bool, error) {
		var g people.Group
		err := json.Unmarshal(row, &g)
		return matches(p.Text, name, g.Label), err
	})
	if err != nil {
		return nil, err
	}
	groups, err := people.LookupGroups(c.Tx, found)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(groups))
	for i, g := range groups {
		out[i] = groupObject(g)
	}
	return out, nil
}

package repository

import (
	"time"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/search"
)

var automaticIndexes = engine.Op{
	Name:     "Repository.AutomaticIndexes",
	Label:    "List Automatic Indexes",
	Category: "Fetch",
	Doc:      "Lists the indexes over several properties that the server has declared by itself: the type of the documents, the declaration that would be the same index, the state (building, complete or dropped), when it was made, and about when a query used it last.",
	Effect:   engine.Reads,
	Callers:  engine.Admins,
	Result:   openapi.List(openapi.Fixed("id type index state made:moment", "used:moment")),
	Run:      engine.On(automaticIndexesParams.run),
}

type automaticIndexesParams struct{}

func (automaticIndexesParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	all, err := search.ListIndexes(c.Tx)
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, a := range all {
		one := map[string]any{"id": a.ID, "type": a.Type, "index": a.String(), "state": a.State, "made": a.Made.UTC().Format(time.RFC3339)}
		if !a.Used.IsZero() {
			one["used"] = a.Used.UTC().Format(time.RFC3339)
		}
		out = append(out, one)
	}
	return out, nil
}

package repository

import (
	"time"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/search"
)

var slowQueries = engine.Op{
	Name:     "Repository.SlowQueries",
	Label:    "List Slow Queries",
	Category: "Fetch",
	Doc:      "Lists the queries that took more than half a second, or were refused, since the servers started, by shape: the query without its values. Each has the count, what the longest one read, and the index that would make it cheap. For administrators only.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.List(openapi.Fixed("query count:integer refused:integer longest:integer rows:integer documents:integer last:moment", "advice automatic")),
	Run:      engine.On(slowQueriesParams.run),
}

type slowQueriesParams struct{}

func (slowQueriesParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	// Even without its values, a query tells what others look for.
	if err := search.MayExplain(c.Tx); err != nil {
		return nil, err
	}
	out := []any{}
	for _, q := range c.Engine().SlowQueries(c) {
		one := map[string]any{
			"query": q.Shape, "count": int64(q.Count), "refused": int64(q.Refused), "longest": q.Longest.Milliseconds(),
			"rows": int64(q.Rows), "documents": int64(q.Docs), "last": q.Last.UTC().Format(time.RFC3339),
		}
		if q.Advice != "" {
			one["advice"] = q.Advice
		}
		if q.Automatic != "" {
			one["automatic"] = q.Automatic
		}
		out = append(out, one)
	}
	return out, nil
}

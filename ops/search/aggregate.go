package search

import (
	"cmp"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// It is an evaluator for the part of the search engine's language that the platform's pages use. A search is
// parsed into conditions, which decide on one row, and tallies, which count rows (aggregate_parse.go,
// aggregate_query.go). What every row must meet is also put into a query of the store (conditions.where), so
// that fewer rows are read; but each row is checked against the whole search, so a condition that the query
// leaves out costs time and never changes the result. Rows are read once and counted in memory; no list of
// them is kept.
var aggregate = engine.Op{
	Name:     "Search.Aggregate",
	Label:    "Aggregate",
	Category: category,
	Doc: "Counts documents the caller may read, or for administrators audit records, in groups, asked in the form of the search engine " +
		"that the platform keeps its index in. Queries: bool, exists, match_all, range, term, terms. Aggregations: terms, date_histogram, " +
		"filters, range, and the figures avg, cardinality, max, min, stats, sum, value_count. A query on eventId is about audit records. " +
		"The results are counted, not listed: hits is empty.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Result:  openapi.Ref("Aggregations"),
	Run:     engine.On(aggregateParams.run),
}

// The bounds of one search, besides those of every query.
const (
	// groups altogether, nested ones included: each takes memory and a member of the answer
	maxBuckets = 10_000
	// levels of queries and of aggregations
	maxNested = 10
)

type aggregateParams struct {
	Query        map[string]any `json:"query,omitzero" type:"object" doc:"The query; by default everything."`
	Aggs         map[string]any `json:"aggs,omitzero" type:"object" doc:"The aggregations by the names of their results."`
	Aggregations map[string]any `json:"aggregations,omitzero" type:"object" doc:"The same, under the name's long form."`
	Index        string         `json:"index,omitzero" doc:"Name of the index. Audit names the audit records; any other name is the whole repository."`
	Type         string         `json:"type,omitzero" unused:"true" doc:"Accepted but ignored: one index has one type."`
	Size         int            `json:"size" default:"10" unused:"true" doc:"Accepted but ignored: results are counted, not listed."`
}

// row gives the values of a field of one document or record, none if it has none. It is valid only during the
// visit. The slice may be shared with the reader of the store and must not be kept or changed.
type row func(field string) []any

func (p aggregateParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	q := &conditions{fields: map[string]bool{}}
	holds, err := q.parse(orNil(p.Query), 0)
	if err != nil {
		return nil, err
	}
	tallies, err := parseTallies(map[string]any{"aggs": orNil(p.Aggs), "aggregations": orNil(p.Aggregations)}, q, 0)
	if err != nil {
		return nil, err
	}
	// Permissions are not checked here: the query that the rows come from runs as the caller, and
	// so counts only what the caller may read.
	n, budget := 0, maxBuckets
	visit := func(r row) error {
		if !holds(r) {
			return nil
		}
		n++
		for _, t := range tallies {
			if err := t.add(r, &budget); err != nil {
				return err
			}
		}
		return nil
	}
	if p.Index == "audit" || q.ofAudit() {
		err = q.eachRecord(c, visit, func(records int) bool {
			if p.Query != nil || len(tallies) > 0 {
				return false
			}
			n += records
			return true
		})
	} else {
		err = q.eachDocument(c, visit)
	}
	if err != nil {
		return nil, err
	}
	out := map[string]any{
		"timed_out": false,
		// Relation eq says that the total is exact, which it is: a search that reads too many rows
		// ends in an error.
		"hits": map[string]any{"total": map[string]any{"value": n, "relation": "eq"}, "max_score": nil, "hits": []any{}},
	}
	if len(tallies) > 0 {
		if out["aggregations"], err = results(tallies, &budget); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// orNil tells an object that was not given from one with nothing in it, which matches nothing and is an
// error.
func orNil(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// eachDocument visits the documents that could meet the query.
func (q *conditions) eachDocument(c *engine.Ctx, visit func(row) error) error {
	columns := q.columns(storage.TypesOf(c.Tx))
	src, named := q.source(columns)
	getters := q.getters(columns)
	_, err := search.Values(c.Tx, src, search.Options{Named: named}, -1, func(values []any) error {
		return visit(func(field string) []any {
			if get := getters[field]; get != nil {
				return get(values)
			}
			return nil
		})
	})
	return err
}

// eachRecord visits the audit records that could meet the query, but not the runs that whole takes in. Those of all users are for
// administrators.
func (q *conditions) eachRecord(c *engine.Ctx, visit func(row) error, whole func(records int) bool) error {
	// Audit records describe documents that their reader may not see, so there is no view of a part
	// of them.
	if !c.As.Is() {
		return fault.Denied.Errorf("audit records: can be searched only by administrators")
	}
	f := q.audit
	f.Whole = whole
	var failed error
	var visited storage.Entry
	values := func(field string) []any { return recordValues(field, &visited) }
	err := f.Walk(c.Tx, func(e storage.Entry, _ func() string) bool {
		visited = e
		failed = visit(values)
		return failed == nil
	})
	return cmp.Or(failed, err)
}

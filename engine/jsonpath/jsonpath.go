// Package jsonpath selects parts of a value by a JSONPath query (RFC 9535). The library that evaluates it cannot be stopped
// within a segment, and a short query may visit a small value very often, so what a query may cost is bounded before it runs.
package jsonpath

import (
	"maps"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"catena/storage/fault"
)

const (
	maxQuery = 1000    // bytes of a query
	maxNodes = 100_000 // that a segment may select
	// maxCost bounds the nodes that one segment may visit, counted as if each filter looked at as much as it could. At 100 ns
	// a node that is a fifth of a second.
	maxCost = 2_000_000
)

// Query is a query that was read.
type Query struct {
	path      *jsonpath.Path
	wides     int // how often a filter may look through a whole value for each node
	selectors int // of the segment with most of them
}

// Parse reads a query.
func Parse(text string) (*Query, error) {
	if len(text) > maxQuery {
		return nil, fault.Limit.Errorf("JSONPath: %d characters, at most %d", len(text), maxQuery)
	}
	path, err := jsonpath.Parse(text)
	if err != nil {
		return nil, fault.Invalid.Errorf("JSONPath: %s", strings.TrimPrefix(err.Error(), "jsonpath: "))
	}
	q := &Query{path: path, selectors: 1}
	for _, s := range path.Query().Segments() {
		q.selectors = max(q.selectors, len(s.Selectors()))
		// What the library writes has one form, so that a filter can be told by its beginning.
		if form := s.String(); strings.Contains(form, "?") {
			_, filter, _ := strings.Cut(form, "?")
			q.wides = max(q.wides, strings.Count(filter, "..")+strings.Count(filter, "*")+strings.Count(filter, "?")+strings.Count(filter, ":"))
		}
	}
	return q, nil
}

// Select returns what a query selects of a value of maps, lists, texts, numbers, booleans and nil, in the order of RFC 9535;
// members of a map have none. Check is asked now and then whether to go on.
func (q *Query) Select(v any, check func() error) ([]any, error) {
	size, err := weigh(v, check)
	if err != nil {
		return nil, err
	}
	cost := size * q.selectors
	for range q.wides {
		if cost *= size; cost > maxCost {
			break
		}
	}
	if cost > maxCost {
		return nil, fault.Limit.Errorf("JSONPath: too expensive for a value of %d parts: a filter that looks through all of them may have at most one ?, .., * or slice, and fewer parts to look at", size)
	}
	nodes, root := []any{v}, v
	for _, segment := range q.path.Query().Segments() {
		var next []any
		visited := 0
		for _, node := range nodes {
			if err := check(); err != nil {
				return nil, err
			}
			// A node may be below another one that was selected too, so that parts are visited again.
			if segment.IsDescendant() && len(nodes) > 1 {
				below, err := weigh(node, check)
				if err != nil {
					return nil, err
				}
				if visited += below * q.selectors; visited > maxCost {
					return nil, fault.Limit.Errorf("JSONPath: %s visits more than %d parts", segment, maxCost)
				}
			}
			if next = append(next, segment.Select(node, root)...); len(next) > maxNodes {
				return nil, fault.Limit.Errorf("JSONPath: %s selects more than %d parts", segment, maxNodes)
			}
		}
		nodes = next
	}
	return nodes, nil
}

// weigh counts the parts of a value.
func weigh(v any, check func() error) (int, error) {
	var parts []any
	switch v := v.(type) {
	case map[string]any:
		parts = slices.Collect(maps.Values(v))
	case []any:
		parts = v
	default:
		return 1, nil
	}
	if err := check(); err != nil {
		return 0, err
	}
	n := 1
	for _, part := range parts {
		m, err := weigh(part, check)
		if err != nil {
			return 0, err
		}
		if n += m; n > maxCost {
			return 0, fault.Limit.Errorf("JSONPath: a value of more than %d parts", maxCost)
		}
	}
	return n, nil
}

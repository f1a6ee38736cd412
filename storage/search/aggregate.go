package search

import (
	"fmt"
	"math"

	"catena/storage/query"
)

// aggregate is COUNT, MIN, MAX, SUM or AVG of the values of a column. What is not set does
// not count, save for COUNT(*).
type aggregate struct {
	column query.Column
	n      int64
	sum    float64
	whole  int64 // the sum while it is a whole number
	broken bool  // it is not
	best   any
	seen   map[string]bool
}

func (f *aggregate) add(v any) {
	if items, many := v.([]any); many {
		for _, item := range items {
			f.add(item)
		}
		return
	}
	if v == nil && f.column.Field != nil || f.column.Distinct && !f.isNew(v) {
		return
	}
	f.n++
	f.addNumber(v)
	order, ok := query.Collate(v, f.best)
	if f.best == nil || ok && (order < 0) == (f.column.Aggregate == "MIN") && order != 0 {
		f.best = v
	}
}

// addNumber adds to both sums. The sum of integers is exact until it overflows or a fraction is added (broken); then the
// floating-point sum is the result.
func (f *aggregate) addNumber(v any) {
	switch x := v.(type) {
	case int64:
		f.sum += float64(x)
		f.broken = f.broken || x > 0 && f.whole > math.MaxInt64-x || x < 0 && f.whole < math.MinInt64-x
		f.whole += x
	case float64:
		f.sum, f.broken = f.sum+x, true
	}
}

// isNew reports whether a value has not been met before, for DISTINCT.
func (f *aggregate) isNew(v any) bool {
	key := fmt.Sprintf("%q", []any{v})
	if f.seen[key] {
		return false
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[key] = true
	return true
}

func (f *aggregate) result() any {
	switch f.column.Aggregate {
	case "COUNT":
		return f.n
	case "MIN", "MAX":
		return f.best
	}
	switch {
	case f.n == 0:
		return nil
	case f.column.Aggregate == "AVG":
		return f.sum / float64(f.n)
	case f.broken:
		return f.sum
	}
	return f.whole
}

package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/storage/fault"
	"catena/storage/query"
)

// tally is one aggregation and what it has counted.
type tally struct {
	name, kind, field string
	size              int
	order             string // of terms: "_count desc" or "_key asc" and so on
	unit              string // of a date_histogram
	zone              time.Duration
	layout            string
	min, max          time.Time // extended bounds
	fill              bool      // also empty steps
	parts             []part    // of filters and range
	// what is counted within each bucket: patterns that each bucket copies (fresh), never added to themselves
	inner []*tally // what is counted within each bucket, never added to themselves

	buckets map[string]*bucket
	figure  figure
}

// part is a bucket that the search declares.
type part struct {
	key   string
	holds condition
	span  span
}

// bucket is a group of rows.
type bucket struct {
	key   any
	text  string // of a date; "" for others
	count int
	inner []*tally
}

// figure is what is known of numbers. It holds all that the kinds need at once, except cardinality, which
// keeps the distinct values.
type figure struct {
	n             int
	sum, min, max float64
	distinct      map[string]bool
}

// dateForm is how the search engine writes dates beside their numbers, unless a search gives another format.
const dateForm = "2006-01-02T15:04:05.000Z"

// fresh is the aggregation with nothing counted.
func (t *tally) fresh() *tally {
	f := *t
	f.buckets, f.figure = map[string]*bucket{}, figure{}
	return &f
}

// add counts a row; budget is how many more buckets there may be. A row with several values of a field counts
// once in each of their buckets; in a date_histogram only the first date counts.
func (t *tally) add(r row, budget *int) error {
	switch t.kind {
	case "terms":
		return t.addTerms(r, budget)
	case "date_histogram":
		for _, v := range r(t.field) {
			if at, ok := v.(time.Time); ok {
				return t.put(t.step(at), r, budget)
			}
		}
		return nil
	case "filters":
		for _, p := range t.parts {
			if p.holds(r) {
				if err := t.put(bucket{key: p.key}, r, budget); err != nil {
					return err
				}
			}
		}
		return nil
	case "range":
		for _, p := range t.parts {
			if slices.ContainsFunc(r(t.field), p.span.holds) {
				if err := t.put(bucket{key: p.key}, r, budget); err != nil {
					return err
				}
			}
		}
		return nil
	}
	t.figure.add(t.kind, r(t.field))
	return nil
}

func (t *tally) addTerms(r row, budget *int) error {
	var seen []string
	for _, v := range r(t.field) {
		b := bucket{key: v}
		switch v := v.(type) {
		case bool:
			// The search engine returns booleans as the keys 1 and 0 with the word beside them.
			b.key, b.text = map[bool]int{true: 1}[v], strconv.FormatBool(v)
		case time.Time:
			b.key, b.text = v.UnixMilli(), v.UTC().Format(dateForm)
		}
		if word := termOf(b.key); !slices.Contains(seen, word) {
			seen = append(seen, word)
			if err := t.put(b, r, budget); err != nil {
				return err
			}
		}
	}
	return nil
}

// put counts a row in a bucket.
func (t *tally) put(b bucket, r row, budget *int) error {
	has, err := t.bucket(b, budget)
	if err != nil {
		return err
	}
	has.count++
	for _, inner := range has.inner {
		if err := inner.add(r, budget); err != nil {
			return err
		}
	}
	return nil
}

// bucket returns the bucket of a key, which it makes if need be. The budget is shared by the whole search,
// since nested aggregations multiply their buckets.
func (t *tally) bucket(b bucket, budget *int) (*bucket, error) {
	word := termOf(b.key)
	if has := t.buckets[word]; has != nil {
		return has, nil
	}
	if *budget--; *budget < 0 {
		return nil, fault.Limit.Errorf("aggregation %s: more than %d buckets altogether", t.name, maxBuckets).WithCode(fault.CodeQueryTooCostly).In("aggs")
	}
	for _, inner := range t.inner {
		b.inner = append(b.inner, inner.fresh())
	}
	t.buckets[word] = &b
	return &b, nil
}

// step is the bucket that a time falls into, in the time zone of the histogram. The calendar works in
// UTC: the time is moved by the offset before, and the beginning of the step moved back after.
func (t *tally) step(at time.Time) bucket {
	from, _, _ := query.Calendar(at.Add(t.zone), t.unit)
	return bucket{key: from.Add(-t.zone).UnixMilli(), text: from.Format(t.layout)}
}

// fillGaps adds the empty steps between the first and the last, or those that extended bounds name. Steps
// count against the budget: a histogram by minute over years ends with an error.
func (t *tally) fillGaps(budget *int) error {
	from, to := t.min, t.max
	for _, b := range t.buckets {
		at := time.UnixMilli(b.key.(int64)).UTC()
		if from.IsZero() || at.Before(from) {
			from = at
		}
		if to.IsZero() || at.After(to) {
			to = at
		}
	}
	// No rows and at most one bound: there are no two ends to fill between.
	if from.IsZero() || to.IsZero() {
		return nil
	}
	for at := from; !at.After(to); {
		if _, err := t.bucket(t.step(at), budget); err != nil {
			return err
		}
		_, next, _ := query.Calendar(at.Add(t.zone), t.unit)
		at = next.Add(-t.zone)
	}
	return nil
}

func (f *figure) add(kind string, values []any) {
	for _, v := range values {
		if kind == "cardinality" {
			if f.distinct == nil {
				f.distinct = map[string]bool{}
			}
			f.distinct[termOf(v)] = true
			continue
		}
		// value_count counts whatever is there; the other figures pass over what is no number or
		// date.
		n, isNumber := 0.0, true
		switch v := v.(type) {
		case int64, float64:
			n = number(v)
		case time.Time:
			n = float64(v.UnixMilli())
		default:
			isNumber = false
		}
		if !isNumber && kind != "value_count" {
			continue
		}
		if f.n++; f.n == 1 {
			f.min, f.max = n, n
		}
		f.sum, f.min, f.max = f.sum+n, math.Min(f.min, n), math.Max(f.max, n)
	}
}

// result is the figure as answers have it.
func (f *figure) result(kind string) map[string]any {
	// Without values these are null, while the sum is 0, as in the search engine.
	var avg, least, most any
	if f.n > 0 {
		avg, least, most = f.sum/float64(f.n), f.min, f.max
	}
	switch kind {
	case "avg":
		return map[string]any{"value": avg}
	case "cardinality":
		return map[string]any{"value": len(f.distinct)}
	case "max":
		return map[string]any{"value": most}
	case "min":
		return map[string]any{"value": least}
	case "sum":
		return map[string]any{"value": f.sum}
	case "value_count":
		return map[string]any{"value": f.n}
	}
	return map[string]any{"count": f.n, "min": least, "max": most, "avg": avg, "sum": f.sum}
}

// results are the aggregations by their names.
func results(tallies []*tally, budget *int) (map[string]any, error) {
	out := map[string]any{}
	for _, t := range tallies {
		one, err := t.result(budget)
		if err != nil {
			return nil, err
		}
		out[t.name] = one
	}
	return out, nil
}

func (t *tally) result(budget *int) (map[string]any, error) {
	switch t.kind {
	case "terms", "date_histogram":
	// Declared buckets are in the answer even if no row fell into them.
	case "filters", "range":
		for _, p := range t.parts {
			if _, err := t.bucket(bucket{key: p.key}, budget); err != nil {
				return nil, err
			}
		}
	default:
		return t.figure.result(t.kind), nil
	}
	if t.fill && t.kind == "date_histogram" {
		if err := t.fillGaps(budget); err != nil {
			return nil, err
		}
	}
	return t.answer(budget)
}

// answer are the buckets as answers have them.
func (t *tally) answer(budget *int) (map[string]any, error) {
	sorted, other := t.sorted(), 0
	list, named := make([]any, 0, len(sorted)), map[string]any{}
	for i, b := range sorted {
		if t.kind == "terms" && i >= t.size {
			other += b.count
			continue
		}
		one, err := results(b.inner, budget)
		if err != nil {
			return nil, err
		}
		one["doc_count"], named[termOf(b.key)] = b.count, one
		if t.kind != "filters" {
			one["key"] = b.key
		}
		if b.text != "" {
			one["key_as_string"] = b.text
		}
		if t.kind == "range" {
			t.bounds(one, termOf(b.key))
		}
		list = append(list, one)
	}
	switch t.kind {
	case "filters":
		return map[string]any{"buckets": named}, nil
	case "terms":
		// The counts are exact, since they do not come from several shards.
		return map[string]any{"doc_count_error_upper_bound": 0, "sum_other_doc_count": other, "buckets": list}, nil
	}
	return map[string]any{"buckets": list}, nil
}

// bounds adds the bounds of a declared range.
func (t *tally) bounds(to map[string]any, key string) {
	for _, p := range t.parts {
		if p.key == key {
			if p.span.from != nil {
				to["from"] = p.span.from
			}
			if p.span.to != nil {
				to["to"] = p.span.to
			}
		}
	}
}

// sorted are the buckets in the order of answers: terms by their number unless the search says otherwise, dates by time,
// declared ones as they are declared.
func (t *tally) sorted() []*bucket {
	all := slices.Collect(maps.Values(t.buckets))
	byKey := func(a, b *bucket) int {
		if at, ok := a.key.(int64); ok {
			if bt, ok := b.key.(int64); ok {
				return cmp.Compare(at, bt)
			}
		}
		return strings.Compare(termOf(a.key), termOf(b.key))
	}
	place := func(b *bucket) int {
		return slices.IndexFunc(t.parts, func(p part) bool { return p.key == termOf(b.key) })
	}
	slices.SortFunc(all, func(a, b *bucket) int {
		switch {
		case t.kind == "date_histogram":
			return byKey(a, b)
		case t.kind != "terms":
			return cmp.Compare(place(a), place(b))
		}
		switch t.order {
		case "_key asc", "_term asc":
			return byKey(a, b)
		case "_key desc", "_term desc":
			return byKey(b, a)
		case "_count asc":
			return cmp.Or(cmp.Compare(a.count, b.count), byKey(a, b))
		}
		return cmp.Or(cmp.Compare(b.count, a.count), byKey(a, b))
	})
	return all
}

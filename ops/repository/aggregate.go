package repository

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/storage/fault"
	"catena/storage/search"
)

// maxAggregated is the number of results that aggregates are computed of, at most. With more results the
// figures describe only as many as this, without saying so: a page of results must not cost a scan of
// the repository. They are those changed last, unless an index finds the results or only some types are searched.
const maxAggregated = 10_000

// aggregate is a figure for each group that the results of a page provider fall into: an aggregate.
type aggregate struct {
	Field  string
	Type   string // terms, range, date_range, histogram or date_histogram
	Size   int    // most groups of terms
	Ranges []bound
	Step   string // of histograms: a number, or minute, hour, day, week, month, quarter or year
}

// bound is a range with a name. From belongs to it, To does not. Bounds of numbers are numbers, those of
// dates durations before now.
type bound struct {
	Key  string
	From string
	To   string
}

// Declarations are checked when they are read, at the start of the server. Later code relies on it
// and drops the errors of limit and ParseFloat.
func (y aggregate) check() error {
	switch {
	case y.Field == "":
		return fault.Invalid.Errorf("field: is missing")
	case y.Type == "terms":
		return nil
	case y.Type == "histogram" || y.Type == "date_histogram":
		return y.checkStep()
	case y.Type != "range" && y.Type != "date_range":
		return fault.Invalid.Errorf("type: %q: must be terms, range, date_range, histogram or date_histogram", y.Type)
	case len(y.Ranges) == 0:
		return fault.Invalid.Errorf("ranges: is missing")
	}
	for _, r := range y.Ranges {
		for _, text := range []string{r.From, r.To} {
			if _, err := y.limit(text, time.Time{}); err != nil {
				return fault.Wrap(err, "range %q", r.Key)
			}
		}
	}
	return nil
}

// limit reads a bound; nil if it is open.
func (y aggregate) limit(text string, now time.Time) (any, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no bound
	}
	if y.Type == "date_range" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fault.Invalid.Errorf("%q: must be a duration", text)
		}
		return now.Add(d), nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fault.Invalid.Errorf("%q: must be a number", text)
	}
	return n, nil
}

// names are the aggregates' names in order.
func (p *provider) names() []string { return slices.Sorted(maps.Keys(p.Aggregates)) }

// aggregated are the columns aggregates are computed of. They are in the order of the names, which is
// that of the counters: count takes values by position.
func (p *provider) aggregated() string {
	var fields []string
	for _, name := range p.names() {
		fields = append(fields, p.Aggregates[name].Field)
	}
	return strings.Join(fields, ", ")
}

// selections are the conditions of the groups that the caller has chosen. A client sends the keys of
// buckets under the name of the aggregate. Buckets of one aggregate are alternatives, those of different
// aggregates must all hold. A key that is not one of the ranges adds nothing; values are always
// bound, never pasted.
func (p *provider) selections(c *engine.Ctx, named map[string]any) []string {
	var all []string
	for _, name := range p.names() {
		y := p.Aggregates[name]
		var parts []string
		for i, v := range itemsOf(named[name], true) {
			param := name + "_" + strconv.Itoa(i)
			switch y.Type {
			case "terms":
				named[param] = marked(c, v)
				parts = append(parts, y.Field+" = :"+param)
			case "histogram", "date_histogram":
				parts = append(parts, y.inStep(marked(c, v), param, named))
			}
			for _, r := range y.Ranges {
				if r.Key == v {
					parts = append(parts, y.within(c, r, param, named))
				}
			}
		}
		if len(parts) > 0 {
			all = append(all, "("+strings.Join(parts, " OR ")+")")
		}
	}
	return all
}

// within is the condition of a range. IS NOT NULL keeps documents without a value out of a range that is
// open on both sides.
func (y aggregate) within(c *engine.Ctx, r bound, param string, named map[string]any) string {
	parts := []string{y.Field + " IS NOT NULL"}
	if from, _ := y.limit(r.From, c.Now); from != nil {
		named[param+"_from"] = whole(from)
		parts = append(parts, y.Field+" >= :"+param+"_from")
	}
	if to, _ := y.limit(r.To, c.Now); to != nil {
		named[param+"_to"] = whole(to)
		parts = append(parts, y.Field+" < :"+param+"_to")
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

// whole makes numbers without a fraction integers, which fields of integers are compared with.
func whole(v any) any {
	if f, ok := v.(float64); ok && f == float64(int64(f)) {
		return int64(f)
	}
	return v
}

// extra is what an answer says besides its documents: the quick filters, and the aggregates unless the
// caller does without.
func (p *provider) extra(c *engine.Ctx, b built, filters []string) (map[string]any, error) {
	out := map[string]any{}
	if len(p.Quick) > 0 {
		list := []any{}
		for _, name := range slices.Sorted(maps.Keys(p.Quick)) {
			list = append(list, map[string]any{"name": name, "active": slices.Contains(filters, name)})
		}
		out["quickFilters"] = list
	}
	if len(p.Aggregates) == 0 {
		return out, nil
	}
	counters := p.counters(c, b.options.Named)
	skip := c.ChainParameters()["skipAggregates"]
	// The parameter is the chain's, not the provider's, and comes as a boolean or as text.
	// Selections are reported even so: clients show from the answer what is selected.
	if (skip == true || skip == "true") && !slices.ContainsFunc(counters, func(k *counter) bool { return len(k.selected) > 0 }) {
		return out, nil
	}
	o := b.options
	// The figures are about all results, not about the page, and need no order.
	o.Sort, o.After, o.Offset = nil, "", 0
	_, err := search.Values(c.Tx, b.aggregation, o, maxAggregated, func(values []any) error {
		count(counters, values)
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	for _, k := range counters {
		all[k.name] = k.entity()
	}
	out["aggregations"] = all
	return out, nil
}

// counter counts the groups of one aggregate.
type counter struct {
	name      string
	aggregate aggregate
	selected  []string
	keys      []string // of ranges
	from, to  []any
	counts    map[string]int
	steps     map[string]step // those of histograms that results fell into
	size      float64         // of a histogram's steps
}

func (p *provider) counters(c *engine.Ctx, named map[string]any) []*counter {
	var all []*counter
	for _, name := range p.names() {
		k := &counter{name: name, aggregate: p.Aggregates[name], counts: map[string]int{}, steps: map[string]step{}, size: p.Aggregates[name].size()}
		for _, v := range itemsOf(named[name], true) {
			if text, ok := marked(c, v).(string); ok {
				k.selected = append(k.selected, text)
			}
		}
		for _, r := range k.aggregate.Ranges {
			from, _ := k.aggregate.limit(r.From, c.Now)
			to, _ := k.aggregate.limit(r.To, c.Now)
			k.keys, k.from, k.to = append(k.keys, r.Key), append(k.from, from), append(k.to, to)
		}
		all = append(all, k)
	}
	return all
}

// count adds a result to the groups it falls into. What is selected in one aggregate narrows the others.
// The query of the figures lacks the selections (built.aggregation), so they are applied here: a result
// counts for an aggregate if it meets the selections of all the others. So users still see what choosing
// a second bucket of the same aggregate would add.
func count(counters []*counter, values []any) {
	groups := make([][]string, len(counters))
	outside, n := 0, 0
	for i, k := range counters {
		groups[i] = k.groups(values[i])
		if len(k.selected) > 0 && !slices.ContainsFunc(groups[i], func(g string) bool { return slices.Contains(k.selected, g) }) {
			outside, n = i, n+1
		}
	}
	for i, k := range counters {
		if n == 0 || n == 1 && outside == i {
			for _, g := range groups[i] {
				k.counts[g]++
			}
		}
	}
}

// groups are those a value falls into, each once.
func (k *counter) groups(v any) []string {
	items, many := v.([]any)
	if !many {
		items = []any{v}
	}
	var out []string
	for _, item := range items {
		if key := k.key(item); key != "" && !slices.Contains(out, key) {
			out = append(out, key)
		}
		for i, key := range k.keys {
			if item != nil && order(item, k.from[i]) >= 0 && (k.to[i] == nil || order(item, k.to[i]) < 0) && !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}

// order compares a value with a bound; what has no order is before every bound.
func order(v, bound any) int {
	switch b := bound.(type) {
	case nil:
		return 0
	case time.Time:
		if t, ok := v.(time.Time); ok {
			return t.Compare(b)
		}
	case float64:
		switch n := v.(type) {
		case int64:
			return cmp.Compare(float64(n), b)
		case float64:
			return cmp.Compare(n, b)
		}
	}
	return -1
}

// entity is the aggregate as answers have it: terms by their number, ranges as they are declared.
func (k *counter) entity() map[string]any {
	buckets := []any{}
	if k.aggregate.Type == "terms" {
		keys := slices.SortedFunc(maps.Keys(k.counts), func(a, b string) int {
			return cmp.Or(k.counts[b]-k.counts[a], cmp.Compare(a, b))
		})
		for _, key := range keys[:min(len(keys), cmp.Or(k.aggregate.Size, 10))] {
			buckets = append(buckets, map[string]any{"key": key, "docCount": k.counts[key]})
		}
	}
	for _, s := range slices.SortedFunc(maps.Values(k.steps), step.compare) {
		buckets = append(buckets, map[string]any{"key": s.key, "from": s.from, "to": s.to, "docCount": k.counts[s.key]})
	}
	for i, key := range k.keys {
		buckets = append(buckets, map[string]any{"key": key, "from": k.from[i], "to": k.to[i], "docCount": k.counts[key]})
	}
	selection := []any{}
	for _, s := range k.selected {
		selection = append(selection, s)
	}
	return map[string]any{
		"entity-type": "aggregate", "id": k.name, "field": k.aggregate.Field, "type": k.aggregate.Type,
		// The size is a text, and buckets appear under two names, because clients of the platform
		// read them so.
		"properties": map[string]any{"size": strconv.Itoa(cmp.Or(k.aggregate.Size, 10))}, "selection": selection,
		"buckets": buckets, "extendedBuckets": buckets,
	}
}

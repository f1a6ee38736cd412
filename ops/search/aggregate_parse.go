package search

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"catena/storage/fault"
	"catena/storage/query"
	"catena/storage/schema"
)

// parseTallies reads the aggregations of a search or of a bucket. Fields are noted in q while reading,
// so all aggregations must be parsed before the rows are read.
func parseTallies(body map[string]any, q *conditions, depth int) ([]*tally, error) {
	v := body["aggs"]
	if v == nil {
		v = body["aggregations"]
	}
	if v == nil {
		return nil, nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fault.Invalid.Errorf("aggs: must be an object").In("aggs")
	}
	if depth >= maxNested {
		return nil, fault.Limit.Errorf("aggs: more than %d levels", maxNested).In("aggs")
	}
	var all []*tally
	for _, name := range slices.Sorted(maps.Keys(m)) {
		one, _ := m[name].(map[string]any)
		t, err := parseTally(name, one, q, depth)
		if err != nil {
			return nil, fault.Wrap(err, "aggregation %s", name).In("aggs")
		}
		// The parsed one stays the pattern; what counts is a copy.
		all = append(all, t.fresh())
	}
	return all, nil
}

func parseTally(name string, m map[string]any, q *conditions, depth int) (*tally, error) {
	t := &tally{name: name}
	var body map[string]any
	for _, key := range slices.Sorted(maps.Keys(m)) { // in order, so that an error is always the same
		// Besides these three members, an aggregation has exactly one, whose name is its kind.
		if key == "aggs" || key == "aggregations" || key == "meta" {
			continue
		}
		if t.kind != "" {
			return nil, fault.Invalid.Errorf("must be of one kind, not %s and %s", t.kind, key)
		}
		t.kind = key
		body, _ = m[key].(map[string]any)
	}
	if field, ok := body["field"].(string); ok && field != "" {
		t.field = q.field(field)
	} else if t.kind != "filters" {
		return nil, fault.Invalid.Errorf("%s: field: is missing", cmp.Or(t.kind, "kind"))
	}
	var err error
	switch t.kind {
	case "terms":
		err = t.readTerms(body)
	case "date_histogram":
		err = t.readHistogram(body)
	case "filters":
		err = t.readFilters(body, q)
	case "range":
		err = t.readRanges(body)
	case "avg", "cardinality", "max", "min", "stats", "sum", "value_count":
	default:
		err = fault.Invalid.Errorf("%s: is not supported; must be terms, date_histogram, filters, range, avg, cardinality, max, min, stats, sum or value_count", t.kind)
	}
	if err == nil {
		t.inner, err = parseTallies(m, q, depth+1)
	}
	return t, err
}

// The defaults are the search engine's: the ten largest groups, by the number of their rows.
func (t *tally) readTerms(m map[string]any) error {
	t.size, t.order = 10, "_count desc"
	if n, ok := m["size"]; ok {
		if t.size = int(number(n)); t.size < 1 || t.size > maxBuckets {
			return fault.Invalid.Errorf("size: must be between 1 and %d", maxBuckets)
		}
	}
	if order, ok := m["order"].(map[string]any); ok {
		if len(order) != 1 {
			return fault.Invalid.Errorf("order: must name one of _count and _key")
		}
		for key, dir := range order {
			// Another order is refused: buckets in the wrong order, cut off by size, would pass for the right ones.
			if key != "_count" && key != "_key" && key != "_term" {
				return fault.Invalid.Errorf("order: must name one of _count and _key")
			}
			t.order = key + " " + strings.ToLower(termOf(dir))
		}
	}
	return nil
}

// intervals are the steps of dates as searches write them. m is a minute and M is a month, as in the
// search engine.
var intervals = map[string]string{"1m": "minute", "1h": "hour", "1d": "day", "1w": "week", "1M": "month", "1q": "quarter", "1y": "year"}

func (t *tally) readHistogram(m map[string]any) error {
	word := ""
	for _, key := range []string{"interval", "calendar_interval", "fixed_interval"} {
		if s, ok := m[key].(string); ok {
			word = s
		}
	}
	if t.unit = cmp.Or(intervals[word], word); !slices.Contains(query.Units, t.unit) {
		return fault.Invalid.Errorf("interval: %q: must be one of %s", word, strings.Join(query.Units, ", "))
	}
	t.layout = dateForm
	if format, ok := m["format"].(string); ok && format != "" {
		t.layout = dateLayout(format)
	}
	if zone, ok := m["time_zone"].(string); ok && zone != "" && zone != "UTC" && zone != "Z" {
		at, err := time.Parse("-07:00", zone)
		if err != nil {
			return fault.Invalid.Errorf("time_zone: %q: must be an offset such as +01:00", zone)
		}
		// Only offsets are known, not names of zones: with daylight saving time, steps would differ
		// in length.
		_, offset := at.Zone()
		t.zone = time.Duration(offset) * time.Second
	}
	n, given := m["min_doc_count"]
	// The search engine returns empty steps by default; min_doc_count 1 leaves them out.
	t.fill = !given || number(n) == 0
	return t.readBounds(m)
}

// readBounds reads how far empty steps go.
func (t *tally) readBounds(m map[string]any) error {
	bounds, _ := m["extended_bounds"].(map[string]any)
	for i, key := range []string{"min", "max"} {
		to := []*time.Time{&t.min, &t.max}[i]
		switch v := bounds[key].(type) {
		case nil:
		case string:
			at, err := schema.ParseDate(v)
			if err != nil {
				return fault.Wrap(err, "extended_bounds: %s", key)
			}
			*to = at
		case int, int64, float64:
			n := number(v)
			if n < -maxMoment || n > maxMoment {
				return fault.Invalid.Errorf("extended_bounds: %s: must be within the years 0 to 9999", key)
			}
			*to = time.UnixMilli(int64(n)).UTC()
		default:
			return fault.Invalid.Errorf("extended_bounds: %s: must be a date or its milliseconds", key)
		}
	}
	return nil
}

// maxMoment is about as many milliseconds as the last date that is written has since 1970.
const maxMoment = 253_402_300_799_999

// dateLayout is a pattern such as yyyy-MM-dd as the standard library writes it.
func dateLayout(pattern string) string {
	return strings.NewReplacer("yyyy", "2006", "MM", "01", "dd", "02", "HH", "15", "mm", "04", "ss", "05", "SSS", "000", "'", "").Replace(pattern)
}

func (t *tally) readFilters(m map[string]any, q *conditions) error {
	named, ok := m["filters"].(map[string]any)
	if !ok {
		return fault.Invalid.Errorf("filters: must be an object of queries")
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		// The depth is negative, since a filter counts rows and does not exclude any from the
		// search.
		holds, err := q.parse(named[key], -1)
		if err != nil {
			return err
		}
		t.parts = append(t.parts, part{key: key, holds: holds})
	}
	return nil
}

func (t *tally) readRanges(m map[string]any) error {
	list, _ := m["ranges"].([]any)
	if len(list) == 0 {
		return fault.Invalid.Errorf("ranges: is missing")
	}
	for _, v := range list {
		r, _ := v.(map[string]any)
		p := part{}
		for i, key := range []string{"from", "to"} {
			to := []*any{&p.span.from, &p.span.to}[i]
			switch n := r[key].(type) {
			case nil:
			case int64, float64:
				*to = number(n)
			case string:
				at, err := schema.ParseDate(n)
				if err != nil {
					return fault.Wrap(err, "ranges: %s", key)
				}
				*to = at
			default:
				return fault.Invalid.Errorf("ranges: %s: must be a number or a date", key)
			}
		}
		if p.key, _ = r["key"].(string); p.key == "" {
			p.key = bound(p.span.from) + "-" + bound(p.span.to)
		}
		t.parts = append(t.parts, p)
	}
	return nil
}

func bound(v any) string {
	if v == nil {
		return "*"
	}
	return termOf(v)
}

package search

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// conditions are what a search asks: which fields it reads, and what storage can decide by itself. The whole
// of the query is checked on each row all the same, so where, levels and audit may say less than the query,
// and never more.
type conditions struct {
	fields map[string]bool
	where  []string // conditions of the query language that every document has to meet
	named  map[string]any
	levels map[int]string // names that the path has to have, by their level
	audit  storage.EntryFilter
}

// condition decides on a row.
type condition func(row) bool

// anything is the condition that every row meets.
func anything(row) bool { return true }

// ofAudit reports whether the search is about audit records.
func (q *conditions) ofAudit() bool {
	for f := range q.fields {
		if _, ok := storage.EntryFields[f]; ok || strings.HasPrefix(f, "extended.") {
			return true
		}
	}
	return false
}

// parse reads a query. What every row has to meet is also given to storage; depth counts the queries around
// this one, and negative depths are those of alternatives, which do not narrow. Only what all rows must meet
// (must and filter, at depths of 0 and more) may narrow: a condition within should or must_not does not have
// to hold.
func (q *conditions) parse(v any, depth int) (condition, error) {
	if v == nil {
		return anything, nil
	}
	m, ok := v.(map[string]any)
	// An empty object is an error: in the search engine it matches nothing, and here it would be
	// read as everything.
	if !ok || len(m) != 1 {
		return nil, fault.Invalid.Errorf("query: must be an object with one member").In("query")
	}
	if depth > maxNested || depth < -maxNested {
		return nil, fault.Limit.Errorf("query: more than %d levels", maxNested).In("query")
	}
	for kind, body := range m {
		object, ok := body.(map[string]any)
		if !ok {
			return nil, fault.Invalid.Errorf("query: %s: must be an object", kind).In("query")
		}
		switch kind {
		case "match_all":
			return anything, nil
		case "bool":
			return q.boolean(object, depth)
		case "exists":
			name, _ := object["field"].(string)
			name = q.field(name)
			return func(r row) bool { return len(r(name)) > 0 }, nil
		case "term", "terms":
			return q.term(kind, object, depth >= 0)
		case "range":
			return q.between(object, depth >= 0)
		}
		return nil, fault.Invalid.Errorf("query: %s: is not supported; must be bool, exists, match_all, range, term or terms", kind).In("query")
	}
	return anything, nil
}

// field notes that a field is read. Members are also written with a dot: file:content.length. The suffix
// keyword names the unanalysed form of a text field in the search engine's index; the values read here
// are always that.
func (q *conditions) field(name string) string {
	if strings.Contains(name, ":") {
		name = strings.ReplaceAll(name, ".", "/")
	}
	name = strings.TrimSuffix(name, "/keyword")
	q.fields[name] = true
	return name
}

// boolean reads a combination of queries. As in the search engine, should is optional beside must or filter,
// and otherwise one of its queries has to hold.
func (q *conditions) boolean(m map[string]any, depth int) (condition, error) {
	// The sign says whether a condition may narrow, the absolute value how deep it is, so that both
	// directions have the same limit.
	inner, other := depth+1, -(max(depth, -depth) + 1)
	if depth < 0 {
		inner = other
	}
	var must, not, should []condition
	for _, part := range slices.Sorted(maps.Keys(m)) {
		into, at := &must, inner
		switch part {
		case "must", "filter":
		case "must_not":
			into, at = &not, other
		case "should":
			into, at = &should, other
		default:
			return nil, fault.Invalid.Errorf("query: bool: %s: is not supported", part).In("query")
		}
		list, ok := m[part].([]any)
		if !ok {
			list = []any{m[part]}
		}
		for _, one := range list {
			c, err := q.parse(one, at)
			if err != nil {
				return nil, err
			}
			*into = append(*into, c)
		}
	}
	return func(r row) bool {
		for _, c := range must {
			if !c(r) {
				return false
			}
		}
		for _, c := range not {
			if c(r) {
				return false
			}
		}
		return len(should) == 0 || len(must) > 0 || slices.ContainsFunc(should, func(c condition) bool { return c(r) })
	}, nil
}

// term reads {field: value}, {field: {value: …}} or {field: [values]}.
func (q *conditions) term(kind string, m map[string]any, narrows bool) (condition, error) {
	if len(m) != 1 {
		return nil, fault.Invalid.Errorf("query: %s: must name one field", kind).In("query")
	}
	for name, v := range m {
		if object, ok := v.(map[string]any); ok {
			v = object["value"]
		}
		values, many := v.([]any)
		if !many {
			values = []any{v}
		}
		texts := make([]string, len(values))
		for i, one := range values {
			switch one.(type) {
			case string, bool, int64, float64, int:
				texts[i] = termOf(one)
			default:
				return nil, fault.Invalid.Errorf("query: %s: %s: must be a text, number or boolean", kind, name).In("query")
			}
		}
		field := q.field(name)
		if narrows {
			q.narrow(field, values, texts)
		}
		dates := datesOf(values)
		return func(r row) bool {
			return slices.ContainsFunc(r(field), func(v any) bool {
				if at, ok := v.(time.Time); ok && slices.ContainsFunc(dates, func(s span) bool { return s.holds(at) }) {
					return true
				}
				return slices.Contains(texts, termOf(v))
			})
		}, nil
	}
	return anything, nil
}

// datesOf are the dates among terms, which a date may also be named by: a moment, or a day without a time for all of it.
func datesOf(values []any) (dates []span) {
	for _, v := range values {
		var s span
		// A number is the milliseconds of a date, which termOf compares, and what is no date is a term of other fields.
		if text, ok := v.(string); ok && s.bound("gte", text) == nil && s.bound("lte", text) == nil {
			dates = append(dates, s)
		}
	}
	return dates
}

// narrow has storage look only for the rows with one of the values, for the fields that have an index there.
// If two conditions name the same field, the last one is what narrows. That is enough, since every
// row is checked against both. Only these fields are passed on, because an index serves them; any
// other would not save reading.
func (q *conditions) narrow(field string, values []any, texts []string) {
	if level, ok := pathLevel(field); ok && len(texts) == 1 {
		if q.levels == nil {
			q.levels = map[int]string{}
		}
		q.levels[level] = texts[0]
		return
	}
	switch field {
	case "eventId":
		q.audit.Events = texts
	case "category":
		q.audit.Categories = texts
	case "principalName":
		q.audit.Users = texts
	case "ecm:primaryType", "ecm:currentLifeCycleState", "dc:creator":
		q.where = append(q.where, field+" IN (:"+q.name(values)+")")
	// The query language writes these as 0 and 1.
	case "ecm:isVersion", "ecm:isTrashed", "ecm:isProxy":
		if len(texts) == 1 {
			n := "0"
			if texts[0] == "true" {
				n = "1"
			}
			q.where = append(q.where, field+" = "+n)
		}
	}
}

// name gives a value to the query by a name. Values of a client reach the query only as parameters.
func (q *conditions) name(v any) string {
	if q.named == nil {
		q.named = map[string]any{}
	}
	name := "p" + strconv.Itoa(len(q.named))
	q.named[name] = v
	return name
}

// between reads {field: {gte: …, lt: …}}.
func (q *conditions) between(m map[string]any, narrows bool) (condition, error) {
	if len(m) != 1 {
		return nil, fault.Invalid.Errorf("query: range: must name one field").In("query")
	}
	for name, v := range m {
		bounds, ok := v.(map[string]any)
		if !ok {
			return nil, fault.Invalid.Errorf("query: range: %s: must be an object", name).In("query")
		}
		field := q.field(name)
		var s span
		for key, one := range bounds {
			if key == "format" || key == "time_zone" || one == nil {
				continue
			}
			if err := s.bound(key, one); err != nil {
				return nil, fault.Wrap(err, "query: range: %s", name).In("query")
			}
		}
		if narrows {
			q.narrowSpan(field, s)
		}
		return func(r row) bool { return slices.ContainsFunc(r(field), s.holds) }, nil
	}
	return anything, nil
}

// narrowSpan is narrow for ranges of dates.
func (q *conditions) narrowSpan(field string, s span) {
	from, _ := s.from.(time.Time)
	to, _ := s.to.(time.Time)
	switch field {
	case "eventDate":
		q.audit.From, q.audit.To = from, to
	case "dc:created", "dc:modified":
		if !from.IsZero() {
			q.where = append(q.where, field+" >= :"+q.name(from))
		}
		if !to.IsZero() {
			q.where = append(q.where, field+" < :"+q.name(to))
		}
	}
}

// span is a range of numbers or dates: from belongs to it, to does not.
type span struct{ from, to any }

// bound sets one end. All ends become "from" inclusive and "to" exclusive, by the next value above where the
// search says otherwise: a millisecond for dates, a relative 10^-9 for numbers. The end of a day that is
// named without a time is the end of that day.
func (s *span) bound(key string, v any) error {
	var next any // the least value above v
	switch n := v.(type) {
	case string:
		t, err := schema.ParseDate(n)
		if err != nil {
			return err
		}
		// Stored dates have milliseconds, so no value lies between the two.
		v, next = t, t.Add(time.Millisecond)
		if len(strings.TrimSpace(n)) == len(time.DateOnly) {
			next = t.AddDate(0, 0, 1)
		}
	case int64, float64:
		f := number(n)
		v, next = f, f+1e-9*max(1, f, -f)
	default:
		return fault.Invalid.Errorf("%s: must be a number or a date", key)
	}
	switch key {
	case "gte", "from":
		s.from = v
	case "gt":
		s.from = next
	case "lte", "to":
		s.to = next
	case "lt":
		s.to = v
	default:
		return fault.Invalid.Errorf("%s: is not supported", key)
	}
	return nil
}

func (s *span) holds(v any) bool {
	return (s.from == nil || order(v, s.from) >= 0) && (s.to == nil || order(v, s.to) < 0)
}

// order compares a value with a bound; what has no order is before every bound.
func order(v, bound any) int {
	switch b := bound.(type) {
	case time.Time:
		if t, ok := v.(time.Time); ok {
			return t.Compare(b)
		}
	case float64:
		switch v.(type) {
		case int64, float64:
			switch n := number(v); {
			case n < b:
				return -1
			case n > b:
				return 1
			}
			return 0
		}
	}
	return -1
}

func number(v any) float64 {
	switch n := v.(type) {
	case int64:
		return float64(n)
	case int:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// termOf is a value as terms compare it. Dates are their milliseconds, as the search engine returns the
// keys of dates; a client sends such a key back as a term.
func termOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case time.Time:
		return strconv.FormatInt(v.UnixMilli(), 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

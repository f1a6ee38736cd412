package audit

import (
	"maps"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/query"
	"catena/storage/schema"
)

// maxPattern bounds an operand of LIKE.
// In bytes. A pattern is matched against every record that is read.
const maxPattern = 1000

// resolve cuts the alias off a field's name and checks that there is such a field.
func resolve(f *query.Field, alias string) error {
	if f == nil {
		return fault.Invalid.Errorf("query: must start with a field").In("query")
	}
	if alias != "" {
		f.Name = strings.TrimPrefix(f.Name, alias+".")
	}
	if _, ok := storage.EntryFields[f.Name]; !ok {
		return fault.Invalid.Errorf("query: line %d, column %d: no field %q of audit records%s", f.Line, f.Column, f.Name, fault.Perhaps(f.Name, maps.Keys(storage.EntryFields))).
			At(f.Line, f.Column).In("query")
	}
	return nil
}

// check resolves a condition's field and brings the values to its type.
func check(p *query.Predicate, alias string) error {
	if err := resolve(p.Field, alias); err != nil {
		return err
	}
	switch {
	// The parser is that of document queries, which knows operators that make no sense for records.
	case p.Op == query.StartsWith:
		return fault.Invalid.Errorf("query: line %d, column %d: STARTSWITH applies only to documents", p.Line, p.Column).At(p.Line, p.Column).In("query")
	case (p.Op == query.Like || p.Op == query.ILike) && len(p.Values[0].String()) > maxPattern:
		return fault.Limit.Errorf("query: line %d, column %d: a LIKE pattern may have at most %d bytes", p.Line, p.Column, maxPattern).At(p.Line, p.Column).In("query")
	}
	kind := schema.String
	switch p.Field.Name {
	case "eventDate", "logDate":
		kind = schema.Date
	case "id":
		kind = schema.Long
	}
	for i := range p.Values {
		v, ok := valueAs(kind, p.Values[i].V)
		if !ok {
			return fault.Invalid.Errorf("query: line %d, column %d: %s is not a valid value for %s", p.Line, p.Column, p.Values[i].String(), p.Field.Name).
				At(p.Line, p.Column).In("query")
		}
		p.Values[i].V = v
	}
	return nil
}

// After this, compare can rely on both sides having one type; nothing is converted for each record.
func valueAs(kind schema.Kind, v any) (any, bool) {
	if day, ok := v.(query.Day); ok {
		v = day.Time
	}
	switch kind {
	case schema.Date:
		if s, ok := v.(string); ok {
			t, err := schema.ParseDate(s)
			return t, err == nil
		}
		_, ok := v.(time.Time)
		return v, ok
	case schema.Long, schema.Integer:
		_, ok := v.(int64)
		return v, ok
	case schema.String, schema.Double, schema.Boolean, schema.Blob, schema.Complex: // text is all there is besides
	}
	_, ok := v.(string)
	return v, ok
}

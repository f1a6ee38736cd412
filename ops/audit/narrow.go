package audit

import (
	"strings"
	"time"

	"catena/storage"
	"catena/storage/query"
	"catena/storage/zone"
)

// filter is the part of the condition that storage decides by itself; the whole of it is
// checked on each record all the same.
func (s *search) filter() storage.EntryFilter {
	f := storage.EntryFilter{Ascending: s.stored() && len(s.order) > 0 && !s.order[0].Desc}
	for _, e := range (&query.Select{Where: s.where}).Conjuncts() {
		// Only conditions that are joined by AND at the top narrow the search: each of them must
		// hold by itself.
		if p, ok := e.(*query.Predicate); ok && !p.Not {
			narrow(&f, p)
		}
	}
	if s.where != nil {
		f.Parts = func(m *zone.Map) zone.Parts { return partsOf(s.where, m, false) }
	}
	return f
}

// narrow makes a filter as narrow as a condition that every record has to meet allows.
func narrow(f *storage.EntryFilter, p *query.Predicate) {
	if p.Op == query.Eq || p.Op == query.In {
		words := make([]string, 0, len(p.Values))
		for _, v := range p.Values {
			if s, ok := v.V.(string); ok {
				words = append(words, s)
			}
		}
		if len(words) > 0 {
			narrowTo(f, p.Field.Name, words)
		}
	}
	if p.Field.Name == "eventDate" && len(p.Values) > 0 {
		narrowDate(f, p)
	}
}

func narrowTo(f *storage.EntryFilter, field string, words []string) {
	switch {
	// Of two conditions on one field the first narrows. The second is left to the matcher, which
	// checks everything.
	case field == "eventId" && f.Events == nil:
		f.Events = words
	case field == "category" && f.Categories == nil:
		f.Categories = words
	case field == "principalName" && f.Users == nil:
		f.Users = words
	case field == "docUUID" && f.DocID == "" && len(words) == 1:
		f.DocID = words[0]
	}
}

func narrowDate(f *storage.EntryFilter, p *query.Predicate) {
	first, _ := p.Values[0].V.(time.Time)
	last, _ := p.Values[len(p.Values)-1].V.(time.Time)
	switch p.Op {
	case query.Eq, query.Between:
		begin(f, first)
		end(f, last)
	// The filter may take in too many records but never too few: the bound itself is sorted out by
	// the matcher.
	case query.Ge, query.Gt:
		begin(f, first)
	case query.Le, query.Lt:
		end(f, last)
	}
}

func begin(f *storage.EntryFilter, at time.Time) {
	if at.After(f.From) {
		f.From = at
	}
}

// end takes an instant that may itself be asked for; the filter's is not.
func end(f *storage.EntryFilter, at time.Time) {
	// Times of records have milliseconds, so one more takes in exactly the instant itself.
	if at = at.Add(time.Millisecond); f.To.IsZero() || at.Before(f.To) {
		f.To = at
	}
}

// zoneFields are the fields that zone maps know the values of.
var zoneFields = map[string]byte{
	"category": zone.Category, "docLifeCycle": zone.State, "docPath": zone.Path, "docType": zone.Type,
	"eventId": zone.Event, "principalName": zone.User, "source": zone.Source,
}

// partsOf returns the parts of a run of records that may have some which meet a condition, or its opposite.
func partsOf(e query.Expr, m *zone.Map, opposite bool) zone.Parts {
	switch e := e.(type) {
	case *query.Logic:
		// The opposite of an OR is an AND of opposites.
		or := e.Or != opposite
		in := zone.All
		if or {
			in = 0
		}
		for _, part := range e.Parts {
			if p := partsOf(part, m, opposite); or {
				in |= p
			} else {
				in &= p
			}
		}
		return in
	case *query.Not:
		return partsOf(e.X, m, !opposite)
	case *query.Predicate:
		return partsWith(e, m, e.Not != opposite)
	}
	return zone.All
}

func partsWith(p *query.Predicate, m *zone.Map, opposite bool) zone.Parts {
	switch p.Field.Name {
	case "id":
		return partsWithin(p, m.IDs, opposite)
	case "logDate":
		return partsWithin(p, m.Logged, opposite)
	}
	field, known := zoneFields[p.Field.Name]
	if !known || opposite {
		return zone.All
	}
	switch p.Op {
	case query.Eq, query.In:
		values := make([]string, 0, len(p.Values))
		for _, v := range p.Values {
			text, _ := v.V.(string)
			values = append(values, text)
		}
		return m.With(field, values...)
	case query.IsNull:
		return m.With(field, "")
	case query.Like:
		if text, _ := p.Values[0].V.(string); field == zone.Path {
			return m.PathsFrom(text[:strings.IndexAny(text+"%", `%_\`)])
		}
	}
	return zone.All
}

// partsWithin decides on a number of which only the bounds in the whole run are known.
func partsWithin(p *query.Predicate, r zone.Range, opposite bool) zone.Parts {
	if opposite || len(p.Values) == 0 {
		return zone.All
	}
	first, last := number(p.Values[0].V), number(p.Values[len(p.Values)-1].V)
	out := false
	switch p.Op {
	case query.Eq, query.Between:
		out = r.Max < first || r.Min > last
	case query.Ge, query.Gt:
		out = r.Max < first
	case query.Le, query.Lt:
		out = r.Min > last
	}
	if out {
		return 0
	}
	return zone.All
}

// number returns a number, or a time in milliseconds, as zone maps have it.
func number(v any) int64 {
	if t, ok := v.(time.Time); ok {
		return t.UnixMilli()
	}
	n, _ := v.(int64)
	return n
}

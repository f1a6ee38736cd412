package audit

import (
	"time"

	"catena/storage"
	"catena/storage/query"
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

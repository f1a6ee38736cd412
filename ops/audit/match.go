package audit

import (
	"cmp"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/query"
)

// matcher decides on records.
type matcher struct {
	repository string
	patterns   map[*query.Predicate]*like
}

// match reports whether a record meets a condition.
func (m *matcher) match(e query.Expr, entry *storage.Entry) bool {
	switch e := e.(type) {
	// One part that is true decides an OR, one that is false an AND; hence the same comparison for
	// both.
	case *query.Logic:
		for _, part := range e.Parts {
			if m.match(part, entry) == e.Or {
				return e.Or
			}
		}
		return !e.Or
	case *query.Not:
		return !m.match(e.X, entry)
	case *query.Predicate:
		return m.holds(e, entry)
	}
	return true
}

// Only repositoryId has no function: it is the same for all records. Names are checked before, in
// resolve.
func (m *matcher) value(name string, entry *storage.Entry) any {
	if get := storage.EntryFields[name]; get != nil {
		return get(entry)
	}
	return m.repository
}

func (m *matcher) holds(p *query.Predicate, entry *storage.Entry) bool {
	v := m.value(p.Field.Name, entry)
	// Records have no nulls, so what is empty counts as null. Numbers and dates are always there.
	if p.Op == query.IsNull {
		return (v == "") != p.Not
	}
	ok := false
	switch p.Op {
	case query.Like, query.ILike:
		ok = m.pattern(p).match(v)
	case query.In:
		for _, one := range p.Values {
			ok = ok || compare(v, one.V) == 0
		}
	case query.Between:
		ok = compare(v, p.Values[0].V) >= 0 && compare(v, p.Values[1].V) <= 0
	default:
		ok = test(p.Op, compare(v, p.Values[0].V))
	}
	return ok != p.Not
}

func test(op query.Op, order int) bool {
	switch op {
	case query.Eq:
		return order == 0
	case query.Ne:
		return order != 0
	case query.Lt:
		return order < 0
	case query.Le:
		return order <= 0
	case query.Gt:
		return order > 0
	}
	return order >= 0
}

// compare orders two values of one type, as check made them.
func compare(a, b any) int {
	switch a := a.(type) {
	case string:
		b, _ := b.(string)
		return strings.Compare(a, b)
	case int64:
		b, _ := b.(int64)
		return cmp.Compare(a, b)
	case time.Time:
		b, _ := b.(time.Time)
		return a.Compare(b)
	}
	return 0
}

// Each pattern is compiled once for a search and not for every record.
func (m *matcher) pattern(p *query.Predicate) *like {
	l, ok := m.patterns[p]
	if !ok {
		text, _ := p.Values[0].V.(string)
		l = newLike(text, p.Op == query.ILike)
		if m.patterns == nil {
			m.patterns = map[*query.Predicate]*like{}
		}
		m.patterns[p] = l
	}
	return l
}

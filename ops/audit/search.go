package audit

import (
	"maps"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/query"
)

// search is a question to the audit log: "FROM LogEntry log WHERE log.eventId = 'download'
// ORDER BY log.eventDate DESC". Conditions are those of the query language with =, <>, <,
// <=, >, >=, LIKE, IN, BETWEEN and IS NULL, joined by AND, OR and NOT.
type search struct {
	where query.Expr
	order []query.Order
}

// parse reads a search with its parameters in place.
func parse(c *engine.Ctx, src string, args []any, named map[string]any) (*search, error) {
	text, alias, err := plain(src)
	if err != nil {
		return nil, err
	}
	q, err := query.Parse(text)
	if err != nil {
		return nil, err
	}
	// The bound would have two meanings: of the query, and of a page.
	if q.Limit >= 0 {
		return nil, fault.Invalid.Errorf("query: LIMIT is a parameter of the operation").In("query")
	}
	if q, err = q.Bind(args, named); err != nil {
		return nil, err
	}
	// NOW in a query means the instant of the call, the same for every record.
	q = q.At(c.Now)
	s := &search{where: q.Where, order: q.Order}
	for _, o := range s.order {
		if err := resolve(o.Field, alias); err != nil {
			return nil, err
		}
	}
	query.Walk(s.where, func(p *query.Predicate) {
		if e := check(p, alias); err == nil {
			err = e
		}
	})
	return s, err
}

// plain turns the head of a search, "select log from LogEntry log", into one that the query
// language knows, and returns the name that stands before the fields. If it fits, the head
// keeps its length, so that columns in messages are right.
func plain(src string) (text, alias string, err error) {
	rest, column := src, ""
	take := func() string {
		trimmed := strings.TrimLeft(rest, " \t\r\n")
		end := strings.IndexAny(trimmed, " \t\r\n")
		if end < 0 {
			end = len(trimmed)
		}
		rest = trimmed[end:]
		return trimmed[:end]
	}
	word := take()
	if strings.EqualFold(word, "select") {
		column = take()
		word = take()
	}
	if !strings.EqualFold(word, "from") || !strings.EqualFold(take(), "LogEntry") {
		return "", "", fault.Invalid.Errorf("query: must read FROM LogEntry").At(1, 1).In("query")
	}
	before := rest
	if alias = take(); strings.EqualFold(alias, "as") {
		alias = take()
	}
	if strings.EqualFold(alias, "where") || strings.EqualFold(alias, "order") {
		alias, rest = "", before
	}
	if column != "" && column != "*" && column != alias {
		return "", "", fault.Invalid.Errorf("query: SELECT %s: only whole records can be selected", column).At(1, 1).In("query")
	}
	head := len(src) - len(rest)
	const known = "SELECT*FROM L"
	pad := ""
	if n := head - len(known); n > 0 && !strings.Contains(src[:head], "\n") {
		pad = strings.Repeat(" ", n)
	}
	return known + pad + rest, alias, nil
}

// sortBy replaces the order by fields, each with a minus in front if it descends.
func (s *search) sortBy(fields []string) error {
	if len(fields) == 0 {
		return nil
	}
	s.order = nil
	for _, name := range fields {
		name, desc := strings.CutPrefix(name, "-")
		f, err := query.ParseField(strings.TrimPrefix(name, "log."))
		if err == nil {
			err = resolve(f, "")
		}
		if err != nil {
			return fault.Invalid.Errorf("sortBy: audit records have no field %q%s", name, fault.Perhaps(name, maps.Keys(storage.EntryFields))).In("sortBy")
		}
		s.order = append(s.order, query.Order{Field: f, Desc: desc})
	}
	return nil
}

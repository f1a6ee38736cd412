package query

import (
	"slices"
	"strconv"
	"strings"

	"catena/storage/fault"
	"catena/storage/schema"
)

// reserved words end a clause and so cannot be fields without a prefix.
var reserved = []string{
	"SELECT", "DISTINCT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "LIKE", "ILIKE",
	"BETWEEN", "IS", "NULL", "STARTSWITH", "ORDER", "BY", "ASC", "DESC", "LIMIT", "OFFSET",
}

// aggregates are the functions of columns.
var aggregates = []string{"COUNT", "MIN", "MAX", "SUM", "AVG"}

// parser reads the text by recursive descent, one token ahead.
type parser struct {
	lexer
	tok    token
	depth  int
	params int
	// All three are counted over the whole query, so nesting does not get round a bound.
	tests int // comparisons read so far
}

// Parse reads a query. What is wrong with it is Invalid, with line and column.
// It knows no types: the same text parses in every repository and after every change of
// declarations, which is why its result can be cached. The time is linear in the text.
func Parse(src string) (*Select, error) {
	if len(src) > MaxLength {
		return nil, fault.Invalid.Errorf("query: %d bytes, limit %d", len(src), MaxLength).At(1, 1)
	}
	p := &parser{lexer: lexer{src: src}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	s, err := p.statement()
	if err != nil {
		return nil, err
	}
	s.correlate()
	return s, nil
}

// ParseField reads a field's name alone, as SortKey and column lists hold it.
func ParseField(name string) (*Field, error) {
	p := &parser{lexer: lexer{src: name}}
	if len(name) > schema.MaxPathLength {
		return nil, fault.Invalid.Errorf("field: %d bytes, limit %d", len(name), schema.MaxPathLength)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	f, err := p.field()
	if err == nil && p.tok.kind != end {
		err = p.expected("nothing after the field")
	}
	if err != nil {
		return nil, err
	}
	f.Pos = Pos{}
	return f, nil
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

// is reports whether the token is the keyword, whatever its case.
func (p *parser) is(keyword string) bool {
	return p.tok.kind == word && strings.EqualFold(p.tok.s, keyword)
}

func (p *parser) isMark(m string) bool { return p.tok.kind == mark && p.tok.s == m }

// accept takes the keyword if it stands here.
func (p *parser) accept(keyword string) (bool, error) {
	if !p.is(keyword) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) acceptMark(m string) (bool, error) {
	if !p.isMark(m) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) need(keyword string) error {
	ok, err := p.accept(keyword)
	if err == nil && !ok {
		err = p.expected(keyword)
	}
	return err
}

func (p *parser) needMark(m string) error {
	ok, err := p.acceptMark(m)
	if err == nil && !ok {
		err = p.expected(strconv.Quote(m))
	}
	return err
}

func (p *parser) here() Pos { return p.posAt(p.tok.at) }

// expected says what should stand where the token is, and which keyword may be meant.
func (p *parser) expected(what string) error {
	found := "the end of the query"
	hint := ""
	switch p.tok.kind {
	case end:
	case text:
		found = "text '" + clip(p.tok.s) + "'"
	case named:
		found = ":" + clip(p.tok.s)
	default:
		found = strconv.Quote(clip(p.tok.s))
		if p.tok.kind == word && !slices.ContainsFunc(reserved, p.is) {
			hint = fault.Perhaps(p.tok.s, slices.Values(reserved))
		}
	}
	return p.bad(p.tok.at, "expected %s, found %s%s", what, found, hint)
}

func (p *parser) statement() (*Select, error) {
	s := &Select{Limit: -1}
	for _, part := range []func(*Select) error{p.columns, p.from, p.where, p.orderBy, p.limit} {
		if err := part(s); err != nil {
			return nil, err
		}
	}
	if p.tok.kind == end {
		return s, nil
	}
	switch {
	case s.Limit >= 0:
		return nil, p.expected("the end of the query")
	case len(s.Order) > 0:
		return nil, p.expected("\",\", LIMIT or the end of the query")
	case s.Where != nil:
		return nil, p.expected("AND, OR, ORDER BY, LIMIT or the end of the query")
	}
	return nil, p.expected("WHERE, ORDER BY, LIMIT or the end of the query")
}

// list reads one to max items, separated by commas; what says what they are.
func (p *parser) list(max int, what string, item func() error) error {
	for n := 1; ; n++ {
		if n > max {
			return p.bad(p.tok.at, "more than %d %s", max, what)
		}
		if err := item(); err != nil {
			return err
		}
		if more, err := p.acceptMark(","); err != nil || !more {
			return err
		}
	}
}

func (p *parser) columns(s *Select) (err error) {
	if err = p.need("SELECT"); err != nil {
		return err
	}
	if s.Distinct, err = p.accept("DISTINCT"); err != nil {
		return err
	}
	if star, err := p.acceptMark("*"); err != nil || star {
		return err
	}
	return p.list(MaxColumns, "columns", func() error {
		c, err := p.column()
		s.Columns = append(s.Columns, c)
		return err
	})
}

// column reads a field or an aggregate of one.
func (p *parser) column() (Column, error) {
	c := Column{Pos: p.here()}
	name := p.tok
	if p.tok.kind != word || !slices.Contains(aggregates, strings.ToUpper(name.s)) {
		f, err := p.fieldOr("\"*\" or a field")
		c.Field = f
		return c, err
	}
	if err := p.advance(); err != nil {
		return c, err
	}
	if !p.isMark("(") { // a property may be called count
		c.Field = &Field{Pos: c.Pos, Name: name.s}
		return c, nil
	}
	if err := p.advance(); err != nil {
		return c, err
	}
	c.Aggregate = strings.ToUpper(name.s)
	var err error
	if c.Distinct, err = p.accept("DISTINCT"); err != nil {
		return c, err
	}
	star := c.Aggregate == "COUNT" && !c.Distinct && p.isMark("*")
	if star {
		err = p.advance()
	} else {
		c.Field, err = p.field()
	}
	if err != nil {
		return c, err
	}
	return c, p.needMark(")")
}

func (p *parser) from(s *Select) error {
	if ok, err := p.accept("FROM"); err != nil {
		return err
	} else if !ok && len(s.Columns) > 0 {
		return p.expected("\",\" or FROM")
	} else if !ok {
		return p.expected("FROM")
	}
	return p.list(MaxTypes, "document types", func() error {
		if p.tok.kind != word || isReserved(p.tok.s) {
			return p.expected("a document type")
		}
		s.From = append(s.From, Name{p.here(), p.tok.s})
		return p.advance()
	})
}

func (p *parser) where(s *Select) error {
	ok, err := p.accept("WHERE")
	if err != nil || !ok {
		return err
	}
	s.Where, err = p.or()
	return err
}

func (p *parser) orderBy(s *Select) error {
	ok, err := p.accept("ORDER")
	if err != nil || !ok {
		return err
	}
	if err := p.need("BY"); err != nil {
		return err
	}
	return p.list(MaxOrder, "fields in ORDER BY", func() error {
		f, err := p.field()
		if err != nil {
			return err
		}
		desc, err := p.accept("DESC")
		if err == nil && !desc {
			_, err = p.accept("ASC")
		}
		s.Order = append(s.Order, Order{f, desc})
		return err
	})
}

func (p *parser) limit(s *Select) error {
	ok, err := p.accept("LIMIT")
	if err != nil || !ok {
		return err
	}
	if s.Limit, err = p.count(); err != nil {
		return err
	}
	if ok, err = p.accept("OFFSET"); err != nil || !ok {
		return err
	}
	s.Offset, err = p.count()
	return err
}

func (p *parser) count() (int64, error) {
	// 32 bits, so that the sum of limit and offset always fits.
	n, err := strconv.ParseInt(p.tok.s, 10, 32)
	if p.tok.kind != number || err != nil || n < 0 {
		return 0, p.expected("a number from 0")
	}
	return n, p.advance()
}

// correlate collects the numbered wildcards.
func (s *Select) correlate() {
	Walk(s.Where, func(p *Predicate) {
		for part := range strings.SplitSeq(p.Field.Name, "/") {
			if len(part) > 1 && part[0] == '*' && !slices.Contains(s.correlated, part) {
				s.correlated = append(s.correlated, part)
			}
		}
	})
}

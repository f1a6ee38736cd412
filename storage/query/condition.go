package query

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/storage/schema"
)

// or reads conditions joined by OR, and reads those joined by AND inside.
func (p *parser) or() (Expr, error) { return p.joined("OR", p.and) }

func (p *parser) and() (Expr, error) { return p.joined("AND", p.not) }

func (p *parser) joined(keyword string, part func() (Expr, error)) (Expr, error) {
	first, err := part()
	if err != nil || !p.is(keyword) {
		return first, err
	}
	l := &Logic{Or: keyword == "OR", Parts: []Expr{first}}
	for p.is(keyword) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		next, err := part()
		if err != nil {
			return nil, err
		}
		l.Parts = append(l.Parts, next)
	}
	return l, nil
}

func (p *parser) not() (Expr, error) {
	at := p.tok.at
	// All recursion of the grammar passes through this function, so this is where depth is counted.
	if p.depth++; p.depth > MaxDepth {
		return nil, p.bad(at, "nested deeper than %d levels", MaxDepth)
	}
	defer func() { p.depth-- }()
	if ok, err := p.accept("NOT"); err != nil {
		return nil, err
	} else if ok {
		x, err := p.not()
		if err != nil {
			return nil, err
		}
		return &Not{x}, nil
	}
	if ok, err := p.acceptMark("("); err != nil {
		return nil, err
	} else if !ok {
		return p.predicate()
	}
	x, err := p.or()
	if err != nil {
		return nil, err
	}
	if !p.isMark(")") {
		return nil, p.expected("AND, OR or \")\"")
	}
	return x, p.advance()
}

func (p *parser) field() (*Field, error) { return p.fieldOr("a field") }

func (p *parser) fieldOr(what string) (*Field, error) {
	if p.tok.kind != word || isReserved(p.tok.s) {
		return nil, p.expected(what)
	}
	f := &Field{Pos: p.here(), Name: p.tok.s}
	return f, p.advance()
}

func isReserved(s string) bool { return slices.Contains(reserved, strings.ToUpper(s)) }

var comparisons = map[string]Op{"=": Eq, "<>": Ne, "!=": Ne, "<": Lt, "<=": Le, ">": Gt, ">=": Ge}

// predicate reads a field and what it is compared with. Comparisons are counted, because each may cost a pass over the candidates.
func (p *parser) predicate() (Expr, error) {
	f, err := p.fieldOr("a condition")
	if err != nil {
		return nil, err
	}
	if p.tests++; p.tests > MaxConditions {
		return nil, f.at("more than %d comparisons", MaxConditions)
	}
	x := &Predicate{Pos: f.Pos, Field: f}
	if op, ok := comparisons[p.tok.s]; ok && p.tok.kind == mark {
		x.Op = op
		if err := p.advance(); err != nil {
			return nil, err
		}
		return x, p.operands(x, 1)
	}
	if x.Not, err = p.accept("NOT"); err != nil {
		return nil, err
	}
	switch {
	case p.is("IN"):
		x.Op = In
		return x, p.in(x)
	case p.is("LIKE"), p.is("ILIKE"):
		if x.Op = Like; p.is("ILIKE") {
			x.Op = ILike
		}
		return x, p.after(x, 1)
	case p.is("BETWEEN"):
		x.Op = Between
		return x, p.after(x, 2)
	case x.Not:
		return nil, p.expected("IN, LIKE, ILIKE or BETWEEN")
	case p.is("STARTSWITH"):
		x.Op = StartsWith
		return x, p.after(x, 1)
	case p.is("IS"):
		x.Op = IsNull
		return x, p.isNull(x)
	}
	return nil, p.expected("a comparison (=, <>, <, <=, >, >=, IN, LIKE, ILIKE, BETWEEN, IS NULL, STARTSWITH)")
}

// after skips the keyword and reads operands.
func (p *parser) after(x *Predicate, n int) error {
	if err := p.advance(); err != nil {
		return err
	}
	return p.operands(x, n)
}

// operands reads n values, with AND between.
func (p *parser) operands(x *Predicate, n int) error {
	for i := range n {
		if i > 0 {
			if err := p.need("AND"); err != nil {
				return err
			}
		}
		v, err := p.value()
		if err != nil {
			return err
		}
		x.Values = append(x.Values, v)
	}
	return nil
}

// in reads a list in parentheses, or a parameter that will hold a list.
func (p *parser) in(x *Predicate) error {
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind == question || p.tok.kind == named {
		return p.operands(x, 1)
	}
	if !p.isMark("(") {
		return p.expected("\"(\" or a parameter")
	}
	if err := p.advance(); err != nil {
		return err
	}
	if p.isMark(")") { // nothing is in an empty list
		return p.advance()
	}
	if err := p.list(MaxList, "values in IN", func() error { return p.operands(x, 1) }); err != nil {
		return err
	}
	if !p.isMark(")") {
		return p.expected("\",\" or \")\"")
	}
	return p.advance()
}

func (p *parser) isNull(x *Predicate) (err error) {
	if err = p.advance(); err != nil {
		return err
	}
	if x.Not, err = p.accept("NOT"); err != nil {
		return err
	}
	if x.Not || p.is("NULL") {
		return p.need("NULL")
	}
	return p.expected("NULL or NOT NULL")
}

func (p *parser) value() (Value, error) {
	v := Value{Pos: p.here()}
	tok := p.tok
	switch {
	case tok.kind == text:
		v.V = tok.s
	case tok.kind == number:
		n, ok := numeral(tok.s)
		if !ok {
			return v, p.bad(tok.at, "malformed number %q", clip(tok.s))
		}
		v.V = n
	case tok.kind == question:
		v.V = Param{Index: p.params}
		p.params++
	case tok.kind == named:
		v.V = Param{Name: tok.s}
	case p.is("TRUE"), p.is("FALSE"):
		v.V = p.is("TRUE")
	case p.is("DATE"), p.is("TIMESTAMP"):
		return p.date(v, p.is("DATE"))
	case p.is("NOW"):
		return p.now(v)
	default:
		return v, p.expected("a value (text in quotes, number, TRUE, FALSE, DATE, TIMESTAMP, NOW() or a parameter)")
	}
	return v, p.advance()
}

// numeral reads a whole or a floating number.
func numeral(s string) (any, bool) {
	// A whole number stays whole: as a float64 it would lose digits above 2^53.
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	// ParseFloat also reads hexadecimal numbers and underscores, which the language does not have.
	if strings.ContainsAny(s, "xXpP_") {
		return nil, false
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && !math.IsInf(x, 0)
}

func (p *parser) date(v Value, day bool) (Value, error) {
	keyword := strings.ToUpper(p.tok.s)
	if err := p.advance(); err != nil {
		return v, err
	}
	if p.tok.kind != text {
		return v, p.expected("text in quotes after " + keyword)
	}
	t, err := schema.ParseDate(p.tok.s)
	if err != nil || t.Year() < 0 {
		return v, p.bad(p.tok.at, "malformed date %q after %s", clip(p.tok.s), keyword)
	}
	v.V = t
	if day {
		v.V = Day{t.Truncate(24 * time.Hour)}
	}
	return v, p.advance()
}

// now reads NOW(), NOW('-P1D') and NOW() - 'P1D'.
func (p *parser) now(v Value) (Value, error) {
	if err := p.advance(); err != nil {
		return v, err
	}
	if err := p.needMark("("); err != nil {
		return v, err
	}
	var n Now
	var err error
	if p.tok.kind == text {
		n.Period, err = p.period(false)
	}
	if err == nil {
		err = p.needMark(")")
	}
	if err == nil && n.Period == (Period{}) && (p.isMark("-") || p.isMark("+")) {
		minus := p.isMark("-")
		if err = p.advance(); err == nil {
			n.Period, err = p.period(minus)
		}
	}
	v.V = n
	return v, err
}

func (p *parser) period(minus bool) (Period, error) {
	if p.tok.kind != text {
		return Period{}, p.expected("a period such as 'P1D'")
	}
	period, ok := ParsePeriod(p.tok.s)
	if !ok {
		return Period{}, p.bad(p.tok.at, "malformed period %q, must be written as in 'P1Y2M3DT4H5M6S'", clip(p.tok.s))
	}
	if minus {
		period = period.negate()
	}
	return period, p.advance()
}

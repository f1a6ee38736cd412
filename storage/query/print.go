package query

import (
	"strconv"
	"strings"
	"time"
)

// String returns the query in canonical form, which parses to the same tree.
// Parsing it again must give the same query, so every literal is escaped the way the lexer reads
// it.
func (s *Select) String() string {
	var b strings.Builder
	b.WriteString("SELECT ")
	if s.Distinct {
		b.WriteString("DISTINCT ")
	}
	if len(s.Columns) == 0 {
		b.WriteByte('*')
	}
	for i, c := range s.Columns {
		comma(&b, i)
		b.WriteString(c.String())
	}
	b.WriteString(" FROM ")
	for i, name := range s.From {
		comma(&b, i)
		b.WriteString(name.Text)
	}
	if s.Where != nil {
		b.WriteString(" WHERE ")
		write(&b, s.Where)
	}
	for i, o := range s.Order {
		if i == 0 {
			b.WriteString(" ORDER BY ")
		}
		comma(&b, i)
		b.WriteString(o.Field.Name)
		if o.Desc {
			b.WriteString(" DESC")
		}
	}
	if s.Limit >= 0 {
		b.WriteString(" LIMIT " + strconv.FormatInt(s.Limit, 10))
		if s.Offset > 0 {
			b.WriteString(" OFFSET " + strconv.FormatInt(s.Offset, 10))
		}
	}
	return b.String()
}

// Matching returns what decides which documents are results, in canonical form: not their order, and not what is returned of them.
func (s *Select) Matching() string {
	return (&Select{From: s.From, Where: s.Where, Limit: -1}).String()
}

func comma(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteString(", ")
	}
}

// String returns the column as it is written, which is also its name in results.
func (c Column) String() string {
	if c.Aggregate == "" {
		return c.Field.Name
	}
	inner := "*"
	if c.Field != nil {
		inner = c.Field.Name
	}
	if c.Distinct {
		inner = "DISTINCT " + inner
	}
	return c.Aggregate + "(" + inner + ")"
}

// Format returns a condition in canonical form.
func Format(e Expr) string {
	if e == nil {
		return ""
	}
	var b strings.Builder
	write(&b, e)
	return b.String()
}

func write(b *strings.Builder, e Expr) {
	switch e := e.(type) {
	case *Logic:
		for i, part := range e.Parts {
			if i > 0 && e.Or {
				b.WriteString(" OR ")
			} else if i > 0 {
				b.WriteString(" AND ")
			}
			inner, nested := part.(*Logic)
			enclose(b, part, nested && (inner.Or || !e.Or))
		}
	case *Not:
		b.WriteString("NOT ")
		_, nested := e.X.(*Logic)
		enclose(b, e.X, nested)
	case *Predicate:
		writePredicate(b, e)
	}
}

func enclose(b *strings.Builder, e Expr, parens bool) {
	if parens {
		b.WriteByte('(')
	}
	write(b, e)
	if parens {
		b.WriteByte(')')
	}
}

func writePredicate(b *strings.Builder, p *Predicate) {
	b.WriteString(p.Field.Name)
	if p.Op == IsNull {
		if p.Not {
			b.WriteString(" IS NOT NULL")
		} else {
			b.WriteString(" IS NULL")
		}
		return
	}
	if p.Not {
		b.WriteString(" NOT")
	}
	b.WriteString(" " + p.Op.String() + " ")
	switch p.Op {
	case Between:
		b.WriteString(p.Values[0].String() + " AND " + p.Values[1].String())
	case In:
		b.WriteByte('(')
		for i, v := range p.Values {
			comma(b, i)
			b.WriteString(v.String())
		}
		b.WriteByte(')')
	default:
		b.WriteString(p.Values[0].String())
	}
}

// String returns the value as a query spells it.
func (v Value) String() string {
	switch x := v.V.(type) {
	case string:
		return Quote(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		s := strconv.FormatFloat(x, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			// Without a point it would be read back as a whole number.
			s += ".0"
		}
		return s
	case bool:
		return strings.ToUpper(strconv.FormatBool(x))
	case Day:
		return "DATE '" + x.Format("2006-01-02") + "'"
	case time.Time:
		return "TIMESTAMP '" + x.UTC().Format("2006-01-02T15:04:05.000Z") + "'"
	case Now:
		if x.Period == (Period{}) {
			return "NOW()"
		}
		return "NOW('" + x.Period.String() + "')"
	case Param:
		if x.Name != "" {
			return ":" + x.Name
		}
		return "?"
	}
	return "''"
}

var quoter = strings.NewReplacer(`\`, `\\`, "'", "''", "\n", `\n`, "\r", `\r`, "\t", `\t`)

// Quote returns text as a literal.
func Quote(s string) string {
	return "'" + quoter.Replace(s) + "'"
}

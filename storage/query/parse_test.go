package query

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
)

func TestParseCanonical(t *testing.T) {
	tests := []struct{ src, want string }{
		{"select * from Document", "SELECT * FROM Document"},
		{"SELECT dc:title, COUNT(*), count(distinct dc:creator) FROM File,Note", "SELECT dc:title, COUNT(*), COUNT(DISTINCT dc:creator) FROM File, Note"},
		{"SELECT DISTINCT dc:title FROM File LIMIT 5 OFFSET 10", "SELECT DISTINCT dc:title FROM File LIMIT 5 OFFSET 10"},
		{`SELECT * FROM D WHERE a = "it's" AND b != 'it''s' OR NOT c <= -1.5e3`, `SELECT * FROM D WHERE a = 'it''s' AND b <> 'it''s' OR NOT c <= -1500.0`},
		{`SELECT * FROM D WHERE (a = 1 OR b = 2) AND (c = 3 AND d = 4)`, `SELECT * FROM D WHERE (a = 1 OR b = 2) AND (c = 3 AND d = 4)`},
		{`SELECT * FROM D WHERE ((a = 1))`, `SELECT * FROM D WHERE a = 1`},
		{`SELECT * FROM D WHERE a not in ('x', ?) and b in :ids and c IN ()`, `SELECT * FROM D WHERE a NOT IN ('x', ?) AND b IN (:ids) AND c IN ()`},
		{`SELECT * FROM D WHERE a LIKE 'x\%%' AND b NOT ILIKE "y_"`, `SELECT * FROM D WHERE a LIKE 'x\\%%' AND b NOT ILIKE 'y_'`},
		{`SELECT * FROM D WHERE a between date '2024-01-01' and timestamp "2024-01-01 10:00:00"`, `SELECT * FROM D WHERE a BETWEEN DATE '2024-01-01' AND TIMESTAMP '2024-01-01T10:00:00.000Z'`},
		{`SELECT * FROM D WHERE a > now() - 'P1DT2H' AND b < NOW('-P1W') AND c = NOW()`, `SELECT * FROM D WHERE a > NOW('P-1DT-2H') AND b < NOW('P-7D') AND c = NOW()`},
		{`SELECT * FROM D WHERE a is null and b IS NOT NULL`, `SELECT * FROM D WHERE a IS NULL AND b IS NOT NULL`},
		{`SELECT * FROM D WHERE files:files/*1/file/name = TRUE ORDER BY dc:title desc, dc:created asc`, `SELECT * FROM D WHERE files:files/*1/file/name = TRUE ORDER BY dc:title DESC, dc:created`},
		{`SELECT * FROM D WHERE ecm:path STARTSWITH '/a b'`, `SELECT * FROM D WHERE ecm:path STARTSWITH '/a b'`},
		{`SELECT * FROM D WHERE x = 'a\'b\\c\n'`, `SELECT * FROM D WHERE x = 'a''b\\c\n'`},
		{`SELECT count FROM D`, `SELECT count FROM D`},
		{`SELECT * FROM D WHERE a = 0AND b = 1.5ORDER BY c`, `SELECT * FROM D WHERE a = 0 AND b = 1.5 ORDER BY c`},
		{`SELECT * FROM D WHERE a IN (1e3, 2E-1)`, `SELECT * FROM D WHERE a IN (1000.0, 0.2)`},
	}
	for _, tt := range tests {
		q, err := Parse(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		if got := q.String(); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.src, got, tt.want)
		}
		sameTree(t, q)
	}
}

// sameTree parses the canonical text of q and compares the trees.
func sameTree(t *testing.T, q *Select) {
	t.Helper()
	again, err := Parse(q.String())
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	if a, b := bare(q), bare(again); !reflect.DeepEqual(a, b) {
		t.Fatalf("%s: another tree\n%#v\n%#v", q, a, b)
	}
}

// bare returns a copy without places.
func bare(q *Select) *Select {
	c := q.clone()
	for i := range c.Columns {
		c.Columns[i].Pos = Pos{}
		if c.Columns[i].Field != nil {
			c.Columns[i].Field.Pos = Pos{}
		}
	}
	from := append([]Name(nil), c.From...)
	for i := range from {
		from[i].Pos = Pos{}
	}
	c.From = from
	for i := range c.Order {
		c.Order[i].Field.Pos = Pos{}
	}
	Walk(c.Where, func(p *Predicate) {
		p.Pos, p.Field.Pos = Pos{}, Pos{}
		if len(p.Values) == 0 {
			p.Values = nil
		}
		for i := range p.Values {
			p.Values[i].Pos = Pos{}
		}
	})
	return c
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		src          string
		line, column int
		want         string
	}{
		{"", 1, 1, "expected SELECT, found the end of the query"},
		{"SELEC * FROM D", 1, 1, `expected SELECT, found "SELEC", perhaps SELECT`},
		{"SELECT FROM D", 1, 8, `expected "*" or a field, found "FROM"`},
		{"SELECT * FORM D", 1, 10, `expected FROM, found "FORM", perhaps FROM`},
		{"SELECT *\nFROM D\nWERE a = 1", 3, 1, `expected WHERE, ORDER BY, LIMIT or the end of the query, found "WERE", perhaps WHERE`},
		{"SELECT * FROM D WHERE", 1, 22, "expected a condition, found the end of the query"},
		{"SELECT * FROM D WHERE a", 1, 24, "expected a comparison (=, <>, <, <=, >, >=, IN, LIKE, ILIKE, BETWEEN, IS NULL, STARTSWITH), found the end of the query"},
		{"SELECT * FROM D WHERE a = ", 1, 27, "expected a value (text in quotes, number, TRUE, FALSE, DATE, TIMESTAMP, NOW() or a parameter), found the end of the query"},
		{"SELECT * FROM D WHERE a = 'x", 1, 27, "text without a closing '"},
		{"SELECT * FROM D WHERE a = 'é' AND b = 'x' c", 1, 43, `expected AND, OR, ORDER BY, LIMIT or the end of the query, found "c"`},
		{"SELECT * FROM D WHERE (a = 1", 1, 29, `expected AND, OR or ")", found the end of the query`},
		{"SELECT * FROM D WHERE a IN 'x'", 1, 28, `expected "(" or a parameter, found text 'x'`},
		{"SELECT * FROM D WHERE a NOT = 1", 1, 29, `expected IN, LIKE, ILIKE or BETWEEN, found "="`},
		{"SELECT * FROM D WHERE a IS 1", 1, 28, `expected NULL or NOT NULL, found "1"`},
		{"SELECT * FROM D WHERE a = DATE '2024-13-01'", 1, 32, `malformed date "2024-13-01" after DATE`},
		{"SELECT * FROM D WHERE a = NOW('x')", 1, 31, `malformed period "x", must be written as in 'P1Y2M3DT4H5M6S'`},
		{"SELECT * FROM D WHERE a = 1x", 1, 28, `expected AND, OR, ORDER BY, LIMIT or the end of the query, found "x"`},
		{"SELECT * FROM D WHERE a = ;", 1, 27, "unexpected character ';'"},
		{"SELECT * FROM D WHERE a = : x", 1, 27, `expected the name of a parameter after ":"`},
		{"SELECT * FROM D ORDER dc:title", 1, 23, `expected BY, found "dc:title"`},
		{"SELECT * FROM D LIMIT x", 1, 23, `expected a number from 0, found "x"`},
		{"SELECT * FROM D LIMIT 1 2", 1, 25, `expected the end of the query, found "2"`},
		{"SELECT * FROM D WHERE " + strings.Repeat("(", 65), 1, 87, "nested deeper than 64 levels"},
	}
	for _, tt := range tests {
		_, err := Parse(tt.src)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Invalid {
			t.Errorf("%s: got %v", tt.src, err)
			continue
		}
		want := fmt.Sprintf("query: line %d, column %d: %s", tt.line, tt.column, tt.want)
		if f.Message != want || f.Line != tt.line || f.Column != tt.column {
			t.Errorf("%s:\n got %s (%d:%d)\nwant %s", tt.src, f.Message, f.Line, f.Column, want)
		}
	}
	if _, err := Parse("SELECT * FROM D WHERE a = '" + strings.Repeat("x", MaxLength) + "'"); !fault.Is(err, fault.Invalid) {
		t.Errorf("a long query: %v", err)
	}
}

func TestPeriod(t *testing.T) {
	from := time.Date(2024, 3, 31, 12, 0, 0, 0, time.UTC)
	tests := []struct{ period, want string }{
		{"P1D", "2024-04-01T12:00:00Z"},
		{"-P1D", "2024-03-30T12:00:00Z"},
		{"P-1D", "2024-03-30T12:00:00Z"},
		{"P1Y2M", "2025-05-31T12:00:00Z"},
		{"PT90M", "2024-03-31T13:30:00Z"},
		{"P2WT1.5S", "2024-04-14T12:00:01.5Z"},
	}
	for _, tt := range tests {
		p, ok := ParsePeriod(tt.period)
		if got := p.After(from).Format(time.RFC3339Nano); !ok || got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.period, got, tt.want)
		}
		if again, ok := ParsePeriod(p.String()); !ok || again != p {
			t.Errorf("%s: printed as %s", tt.period, p)
		}
	}
	for _, bad := range []string{"", "P", "PT", "1D", "P1", "P1H", "PT1D", "P1.5D", "P999999999999D"} {
		if _, ok := ParsePeriod(bad); ok {
			t.Errorf("%q: taken", bad)
		}
	}
}

// randomQuery writes any query the grammar allows.
type randomQuery struct{ *rand.Rand }

func (r randomQuery) pick(s ...string) string { return s[r.IntN(len(s))] }

func (r randomQuery) field() string {
	return r.pick("dc:title", "ecm:path", "file:content/mime-type", "files:files/*/file/name", "dc:subjects/0", "x", "a_b")
}

func (r randomQuery) value() string {
	return r.pick("'x'", `"q'uo""te"`, `'\\ \' \% \n'`, "1", "-12", "1.25", "1e9", "TRUE", "false", "DATE '2024-02-29'",
		"TIMESTAMP '2024-01-01 10:00:00'", "NOW()", "NOW('-P1M')", "NOW() + 'PT5S'", "?", ":name", "'ünïcödé 漢字'", "''")
}

func (r randomQuery) where(depth int) string {
	if depth > 0 {
		switch r.IntN(4) {
		case 0:
			return r.where(depth-1) + " AND " + r.where(depth-1)
		case 1:
			return "(" + r.where(depth-1) + ") or (" + r.where(depth-1) + ")"
		case 2:
			return "NOT (" + r.where(depth-1) + ")"
		}
	}
	f, not := r.field(), r.pick("", "NOT ")
	switch r.IntN(6) {
	case 0:
		return f + " " + not + "IN (" + r.value() + ", " + r.value() + ")"
	case 1:
		return f + " " + not + r.pick("LIKE ", "ilike ") + r.value()
	case 2:
		return f + " " + not + "BETWEEN " + r.value() + " AND " + r.value()
	case 3:
		return f + " IS " + not + "NULL"
	case 4:
		return f + " STARTSWITH " + r.value()
	}
	return f + r.pick("=", " <> ", "!=", "<", " <=", "> ", ">=") + r.value()
}

func (r randomQuery) text() string {
	s := "SELECT " + r.pick("", "DISTINCT ") + r.pick("*", "dc:title", "ecm:uuid, MAX(dc:created)", "COUNT(*)") + " FROM " + r.pick("Document", "File, Note")
	if r.IntN(5) > 0 {
		s += " WHERE " + r.where(4)
	}
	s += r.pick("", " ORDER BY dc:title", " ORDER BY dc:created DESC, ecm:pos ASC")
	return s + r.pick("", " LIMIT 10", " LIMIT 0 OFFSET 7")
}

func TestCanonicalTextParsesEqual(t *testing.T) {
	r := randomQuery{rand.New(rand.NewPCG(1, 2))}
	for range 3000 {
		src := r.text()
		q, err := Parse(src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		sameTree(t, q)
	}
}

func FuzzParse(f *testing.F) {
	r := randomQuery{rand.New(rand.NewPCG(3, 4))}
	for range 50 {
		f.Add(r.text())
	}
	f.Fuzz(func(t *testing.T, src string) {
		q, err := Parse(src)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%q: %v", src, err)
			}
			return
		}
		if len(q.String()) <= MaxLength {
			sameTree(t, q)
		}
	})
}

func TestCacheKeepsTheLatest(t *testing.T) {
	var c Cache
	first, err := c.Parse("SELECT * FROM D WHERE n = 0")
	if err != nil {
		t.Fatal(err)
	}
	for i := range cacheSize {
		if again, _ := c.Parse("SELECT * FROM D WHERE n = 0"); again != first {
			t.Fatalf("parsed again after %d others", i)
		}
		if _, err := c.Parse(fmt.Sprintf("SELECT * FROM D WHERE n = %d", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.used.Len(); n != cacheSize || len(c.byText) != n {
		t.Errorf("%d queries kept, %d by text", n, len(c.byText))
	}
}

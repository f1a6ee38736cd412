package search

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/query"
	"catena/storage/schema"
)

// cardTypes declare a field of each kind, with and without an index, and indexes over several fields.
const cardTypes = `
schemas:
  card:
    fields:
      code: {type: string, index: true}
      count: {type: long, index: true}
      share: {type: double, index: true}
      due: {type: date, index: true}
      done: {type: boolean, index: true}
      tags: {type: "string[]", index: true}
      shelf: {type: string, index: sparse}
      note: string
types:
  Card:
    parent: File
    schemas: [card]
    indexes:
      - {columns: [card:code, card:count desc], include: [card:share]}
      - [card:done, card:due]
`

// cards are the declarations with those of every repository.
var cards = sync.OnceValues(func() (*schema.Registry, error) {
	return schema.Load(schema.Defaults(), fstest.MapFS{"cards.yaml": {Data: []byte(cardTypes)}})
})

// selected is a query that was checked.
func selected(t testing.TB, src string) *query.Select {
	t.Helper()
	reg, err := cards()
	if err != nil {
		t.Fatal(err)
	}
	q, err := query.Parse(src)
	if err == nil {
		q, err = q.Bind(nil, nil)
	}
	if err == nil {
		err = q.Check(reg)
	}
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return q.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
}

// condition is one condition of a query on cards.
func condition(t testing.TB, text string) *query.Predicate {
	t.Helper()
	p, ok := selected(t, "SELECT * FROM Card WHERE "+text).Where.(*query.Predicate)
	if !ok {
		t.Fatalf("%s is not one condition", text)
	}
	return p
}

// valued is a document of which one value is known.
type valued struct{ v any }

func (valued) Work(int) error                        { return nil }
func (s valued) System(*query.Field) (any, error)    { return s.v, nil }
func (s valued) Property(*schema.Field) (any, error) { return s.v, nil }

// within reports whether a key is in one of the ranges.
func within(key []byte, ranges []kv.Range) bool {
	return slices.ContainsFunc(ranges, func(r kv.Range) bool {
		return bytes.Compare(key, r.Start) >= 0 && (r.End == nil || bytes.Compare(key, r.End) < 0)
	})
}

var (
	day  = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	long = strings.Repeat("long", layout.MaxIndexed/4)
)

// boundsOf are values of each field and what conditions compare it with.
var boundsOf = []struct {
	field    string
	values   []any
	operands []string
}{
	{"card:count", []any{nil, int64(math.MinInt64), int64(-7), int64(-1), int64(0), int64(1), int64(6), int64(7), int64(8), int64(math.MaxInt64)}, []string{"-1", "0", "7", "9223372036854775807"}},
	{"card:share", []any{nil, math.Inf(-1), -2.5, 0.0, math.Copysign(0, -1), 1e-300, 1.0, 2.5, 3.0, 1e300, math.Inf(1)}, []string{"0", "-2.5", "3", "1e300", "0.0"}},
	{"card:due", []any{nil, time.Unix(-1, 0), day.Add(-time.Millisecond), day, day.Add(time.Millisecond), day.AddDate(0, 0, 1)}, []string{"DATE '2026-03-01'", "TIMESTAMP '2026-03-01 00:00:00.001'"}},
	{"card:done", []any{nil, false, true}, []string{"true", "false"}},
	{
		"card:code",
		[]any{nil, "", "A", "a", "ab", "aB", "a\x00", "a\x00b", "b", "ä", "Ä", "zz", long, long + "x", strings.ToUpper(long) + "Y", long[:layout.MaxIndexed-1] + "é"},
		[]string{"''", "'a'", "'A'", "'AB'", "'ä'", "'" + long + "'", "'" + long + "x'", "'" + long[:layout.MaxIndexed-1] + "é'"},
	},
}

// conditionsOn are conditions on a field with each operand and pair of operands.
func conditionsOn(field string, operands []string) (all []string) {
	for i, a := range operands {
		for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
			if field != "card:done" || op == "=" || op == "<>" {
				all = append(all, field+" "+op+" "+a)
			}
		}
		b := operands[(i+1)%len(operands)]
		all = append(all, fmt.Sprintf("%s IN (%s, %s, %s)", field, b, a, b), fmt.Sprintf("%s NOT IN (%s)", field, a))
		if field != "card:done" {
			all = append(all, fmt.Sprintf("%s BETWEEN %s AND %s", field, a, b), fmt.Sprintf("%s BETWEEN %s AND %s", field, a, a))
		}
		if strings.HasPrefix(a, "'") {
			text := strings.Trim(a, "'")
			all = append(all, field+" LIKE '"+text+"%'", field+" ILIKE '"+text+"%'", field+" ILIKE '"+text+"'", field+" LIKE '"+text+"_%'", field+" NOT LIKE '"+text+"%'")
		}
	}
	return append(all, field+" IS NULL", field+" IS NOT NULL")
}

// TestBoundsHoldWhatMatches: the ranges of a condition hold the row of every value that meets it, and where they are said to be
// exact, of no other.
func TestBoundsHoldWhatMatches(t *testing.T) {
	base := []byte("index\x00")
	helped, exactly := 0, 0
	for _, c := range boundsOf {
		for _, text := range conditionsOn(c.field, c.operands) {
			x := condition(t, text)
			ranges, exact, ok := bounds(base, x)
			if !ok {
				if x.Op != query.Ne && !x.Not && x.Op != query.IsNull && x.Op != query.Like && x.Op != query.ILike {
					t.Errorf("%.80s: the index is of no help", text)
				}
				continue
			}
			if helped++; exact {
				exactly++
			}
			for _, v := range c.values {
				holds, err := query.Holds(x, valued{v})
				part, ok := layout.AppendValue(bytes.Clone(base), v)
				if err != nil || !ok {
					t.Fatalf("%s of %v: %v", text, v, err)
				}
				if in := within(append(part, make([]byte, 16)...), ranges); holds && !in || exact && in && !holds {
					t.Errorf("%.80s: %.60v holds: %t, in the ranges: %t, exact: %t", text, v, holds, in, exact)
				}
			}
		}
	}
	if helped < 90 || exactly < 40 {
		t.Errorf("%d conditions have ranges, %d exact ones", helped, exactly)
	}
}

// TestBoundsThatCannotBe: values that a field cannot have give no range rather than a wrong one.
func TestBoundsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		kind schema.Kind
		v    any
		sure bool
		ok   bool
	}{
		{schema.Long, int64(3), true, true},
		{schema.Double, int64(3), true, true},
		{schema.Double, int64(1<<53 - 1), true, true},
		{schema.Double, int64(1 << 53), true, false},
		{schema.Double, int64(-1 << 53), true, false},
		{schema.Double, 2.5, true, true},
		{schema.Double, math.NaN(), true, false},
		{schema.Long, 2.5, true, false},
		{schema.String, "x", true, true},
		{schema.Date, "x", true, false},
		{schema.String, long, false, true},
		{schema.String, long[1:], true, true},
		{schema.String, strings.Repeat("\u212a", 100), true, true}, // the sign for kelvin has three bytes, in lower case one
		{schema.Boolean, true, true, true},
		{schema.Date, day, true, true},
		{schema.String, nil, false, false},
		{schema.String, []byte("x"), false, false},
	} {
		part, sure, ok := point(c.kind, c.v)
		if ok != c.ok || ok && (sure != c.sure || len(part) == 0) {
			t.Errorf("%v %.20v: %t, %t, want %t, %t", c.kind, c.v, sure, ok, c.sure, c.ok)
		}
	}
}

// TestIntersect compares with what each list holds, byte by byte.
func TestIntersect(t *testing.T) {
	span := func(from, to int) kv.Range {
		r := kv.Range{Start: []byte{byte(from)}}
		if to > 0 {
			r.End = []byte{byte(to)}
		}
		return r
	}
	lists := [][]kv.Range{
		nil, {span(0, 0)}, {span(3, 7)}, {span(7, 9)}, {span(5, 5)}, {span(6, 4)}, {span(2, 4), span(6, 0)}, {span(1, 3), span(3, 5), span(8, 9)}, {{}},
	}
	for i, a := range lists {
		for j, b := range lists {
			got := intersect(a, b)
			for x := range byte(12) {
				key := []byte{x}
				if within(key, got) != (within(key, a) && within(key, b)) {
					t.Errorf("%d and %d at %d: %v", i, j, x, got)
				}
			}
			for _, r := range got {
				if r.End != nil && bytes.Compare(r.Start, r.End) >= 0 {
					t.Errorf("%d and %d: an empty range %v", i, j, r)
				}
			}
		}
	}
}

// TestClampRange: a range goes on right after a position, in both directions, and ends where nothing is left.
func TestClampRange(t *testing.T) {
	for _, c := range []struct {
		start, end, after string
		reverse, left     bool
		want              string // keys of one letter, and of one with a zero byte behind it, in between
	}{
		{"b", "e", "", false, true, "b b0 c c0 d d0"},
		{"b", "e", "c", false, true, "c0 d d0"},
		{"b", "e", "b", false, true, "b0 c c0 d d0"},
		{"b", "e", "a", false, true, "b b0 c c0 d d0"},
		{"b", "e", "e", false, false, ""},
		{"b", "e", "d", false, true, "d0"},
		{"b", "", "e", false, true, "e0"},
		{"b", "e", "", true, true, "b b0 c c0 d d0"},
		{"b", "e", "c", true, true, "b b0"},
		{"b", "e", "b", true, false, ""},
		{"b", "e", "f", true, true, "b b0 c c0 d d0"},
		{"b", "", "c", true, true, "b b0"},
		{"b", "", "a", true, false, ""},
		{"d", "c", "", false, false, ""},
	} {
		r := kv.Range{Start: []byte(c.start)}
		if c.end != "" {
			r.End = []byte(c.end)
		}
		var after []byte
		if c.after != "" {
			after = []byte(c.after)
		}
		left := clampRange(&r, c.reverse, after)
		var got []string
		for _, key := range []string{"a", "a\x00", "b", "b\x00", "c", "c\x00", "d", "d\x00", "e", "e\x00"} {
			if left && within([]byte(key), []kv.Range{r}) {
				got = append(got, strings.ReplaceAll(key, "\x00", "0"))
			}
		}
		if strings.Join(got, " ") != c.want || left != c.left || r.Reverse != c.reverse || string(after) != c.after {
			t.Errorf("%s to %s after %s, reverse %t: %v, %t, want %s", c.start, c.end, c.after, c.reverse, got, left, c.want)
		}
	}
}

// TestMultiply: each base with each value, inverted in a descending column, and nothing shared with what it was made of.
func TestMultiply(t *testing.T) {
	bases, points := [][]byte{[]byte("a"), []byte("b")}, [][]byte{{1}, {2, 3}}
	for _, c := range []struct {
		desc bool
		want string
	}{{false, "[6101 610203 6201 620203]"}, {true, "[61fe 61fdfc 62fe 62fdfc]"}} {
		got := multiply(bases, points, c.desc)
		if s := fmt.Sprintf("%x", got); s != c.want || fmt.Sprintf("%x", points) != "[01 0203]" {
			t.Errorf("descending %t: %s, want %s; points %x", c.desc, s, c.want, points)
		}
		for _, x := range got {
			_ = append(x[:1], 'z')
		}
		if fmt.Sprintf("%s", bases) != "[a b]" {
			t.Errorf("the bases were changed: %s", bases)
		}
	}
}

// TestIndexOf: a field is looked up in the index that holds all of it, or in none.
func TestIndexOf(t *testing.T) {
	for _, c := range []struct{ condition, want string }{
		{"card:code = 'a'", "card:code"},
		{"card:note = 'a'", ""},
		{"card:shelf = 'a'", "card:shelf"},
		{"card:tags = 'a'", "card:tags"},
		{"card:tags/* = 'a'", "card:tags"},
		{"card:tags/0 = 'a'", ""},
		{"dc:title = 'a'", "dc:title"},
		{"dc:modified > DATE '2026-03-01'", "dc:modified"},
		{"ecm:name = 'a'", layout.NameIndex},
		{"ecm:currentLifeCycleState = 'a'", layout.StateIndex},
		{"ecm:lockOwner = 'a'", layout.LockIndex},
		{"ecm:proxyTargetId = 'a'", layout.ProxyIndex},
		{"ecm:uuid = 'a'", ""},
		{"ecm:isVersion = 1", ""},
	} {
		x := condition(t, c.condition)
		if got := indexOf(x.Field); got != c.want {
			t.Errorf("%s: %q, want %q", c.condition, got, c.want)
		}
	}
}

// TestSameField compares fields by what they name, however it is written.
func TestSameField(t *testing.T) {
	names := []string{"card:code", "card:count", "card:tags/*", "card:tags/0", "card:tags/1", "dc:title", "ecm:name", "ecm:uuid"}
	for i, a := range names {
		for j, b := range names {
			x, y := condition(t, a+" IS NULL").Field, condition(t, b+" IS NULL").Field
			if got := sameField(x, y); got != (i == j) {
				t.Errorf("%s and %s: %t", a, b, got)
			}
		}
	}
}

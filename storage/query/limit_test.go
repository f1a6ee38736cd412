package query

import (
	"fmt"
	"strings"
	"testing"

	"catena/storage/fault"
)

// several repeats an item n times with a separator.
func several(item, separator string, n int) string {
	return strings.TrimSuffix(strings.Repeat(item+separator, n), separator)
}

// TestLimits has queries with as much of everything as is allowed, and with one more: the error names the limit.
func TestLimits(t *testing.T) {
	many := func(n int) []any {
		list := make([]any, n)
		for i := range list {
			list[i] = int64(i)
		}
		return list
	}
	reg := registry(t)
	for _, tt := range []struct {
		limit int
		want  string // %d: the limit
		src   func(n int) string
		args  func(n int) []any
	}{
		{MaxColumns, "more than %d columns", func(n int) string { return "SELECT " + several("ecm:uuid", ",", n) + " FROM Document" }, nil},
		{MaxTypes, "more than %d document types", func(n int) string { return "SELECT * FROM " + several("Document", ",", n) }, nil},
		{MaxConditions, "more than %d comparisons", func(n int) string { return "SELECT * FROM Document WHERE " + several("ecm:pos=1", " AND ", n) }, nil},
		{MaxConditions, "more than %d comparisons", func(n int) string { return "SELECT * FROM Document WHERE " + several("(ecm:pos=1)", " OR ", n) }, nil},
		{MaxDepth, "nested deeper than %d levels", func(n int) string {
			return "SELECT * FROM Document WHERE " + strings.Repeat("(", n-1) + "ecm:pos=1" + strings.Repeat(")", n-1)
		}, nil},
		{MaxOrder, "more than %d fields in ORDER BY", func(n int) string { return "SELECT * FROM Document ORDER BY " + several("ecm:name", ",", n) }, nil},
		{MaxList, "more than %d values in IN", func(n int) string { return "SELECT * FROM Document WHERE ecm:pos IN (" + several("1", ",", n) + ")" }, nil},
		{MaxList, "values, limit %d", func(int) string { return "SELECT * FROM Document WHERE ecm:pos IN ?" }, func(n int) []any { return []any{many(n)} }},
		{MaxValues, "more than %d values in all comparisons", func(int) string {
			return "SELECT * FROM Document WHERE ecm:pos IN ? OR ecm:pos IN ? OR ecm:pos IN ?"
		}, func(n int) []any { return []any{many(MaxList), many(MaxList - 10), many(n - 2*MaxList + 10)} }},
		{MaxTerms, "words to search for, limit %d", func(n int) string {
			return "SELECT * FROM Document WHERE ecm:fulltext = '" + several("w", " ", n) + "'"
		}, nil},
		{MaxLength, "bytes to search for, limit %d", func(int) string { return "SELECT * FROM Document WHERE ecm:name LIKE ?" }, func(n int) []any { return []any{strings.Repeat("x", n)} }},
	} {
		run := func(n int) error {
			q, err := Parse(tt.src(n))
			if err != nil {
				return err
			}
			var args []any
			if tt.args != nil {
				args = tt.args(n)
			}
			if q, err = q.Bind(args, nil); err != nil {
				return err
			}
			return q.Check(reg)
		}
		want := fmt.Sprintf(tt.want, tt.limit)
		if err := run(tt.limit); err != nil && !strings.Contains(err.Error(), "no document type") {
			t.Errorf("%s: refused at the limit: %.200v", want, err)
		}
		if err := run(tt.limit + 1); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %.200v", want, err)
		}
	}
	q, err := Parse("SELECT * FROM Document")
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Sorted(make([]Order, MaxOrder+1)).Check(reg); err == nil || !strings.Contains(err.Error(), "more than 32 fields in ORDER BY") {
		t.Errorf("sorted by more: %v", err)
	}
}

package query

import (
	"testing"

	"catena/storage/growth"
)

// FuzzGrowth looks for queries that take more time than in proportion to their length, and for patterns likewise.
func FuzzGrowth(f *testing.F) {
	for _, s := range []string{"a=1 AND ", "NOT ", "(", "'a',", "a LIKE '%a%' OR ", "\"a\" ", "a/*1=1 OR ", "\\", "x,"} {
		f.Add("SELECT * FROM Document WHERE ", s, "")
	}
	f.Add("SELECT * FROM Document WHERE dc:title IN (", "'a',", "'b')")
	f.Add("SELECT * FROM Document ORDER BY a", ",a", "")
	f.Fuzz(func(t *testing.T, before, fragment, after string) {
		if len(before)+len(after) > 200 {
			return
		}
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, MaxLength/5, func(s string) {
			if q, err := Parse(s); err == nil {
				_ = q.String()
			}
		})
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, MaxLength/5, func(s string) { parseWords(s) })
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, MaxLength/5, func(s string) { newPattern(s, true) })
	})
}

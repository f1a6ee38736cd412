package engine

import (
	"testing"

	"catena/storage/growth"
)

// FuzzGrowthJSON looks for JSON that takes more time to read than in proportion to its length.
func FuzzGrowthJSON(f *testing.F) {
	for _, s := range []string{"1,", "[", "[],", "{\"a\":", "\"a\",", "\"\\u0041\",", "9", " ", "{\"a\":1},", "\"\\ud800\\udc00\","} {
		f.Add("[", s, "1]")
	}
	f.Add("\"", "\\u0041", "\"")
	f.Add("{", "\"a\":1,", "}")
	f.Fuzz(func(t *testing.T, before, fragment, after string) {
		if len(before)+len(after) > 200 {
			return
		}
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 64<<10, func(s string) { _, _ = ParseJSON([]byte(s)) })
	})
}

package schema

import (
	"testing"

	"catena/storage/growth"
)

// FuzzGrowthProps looks for properties that take more time than in proportion to their length.
func FuzzGrowthProps(f *testing.F) {
	for _, s := range []string{"\\\n", "a=b\n", "=\n", "#\n", " ", "a=\\\r\n"} {
		f.Add("a=b", s)
	}
	f.Fuzz(func(t *testing.T, before, fragment string) {
		if len(before) > 100 {
			return
		}
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment}, 64<<10, func(s string) { _, _ = ParseProps(s) })
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment}, 64<<10, func(s string) { SplitList(s) })
	})
}

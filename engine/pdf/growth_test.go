package pdf

import (
	"testing"

	"catena/storage/growth"
)

// FuzzGrowthContent looks for contents of pages that take more time to read than in proportion to their length.
func FuzzGrowthContent(f *testing.F) {
	for _, s := range []string{"(a) Tj ", "[(b) -300 <63>] TJ ", "(", "[", "<", "<<", "BI ID x EI ", "BI ID ", "T* ", "\\(", "%\n", "/a ", "1 "} {
		f.Add("BT /F 1 Tf ", s, " ET")
	}
	f.Fuzz(func(t *testing.T, before, fragment, after string) {
		if len(before)+len(after) > 200 {
			return
		}
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 64<<10, func(s string) { content(s) })
	})
}

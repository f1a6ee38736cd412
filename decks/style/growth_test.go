package style

import (
	"testing"

	"catena/storage/growth"
)

// FuzzGrowth looks for style sheets that take more time than in proportion to their length.
func FuzzGrowth(f *testing.F) {
	for _, s := range []string{"a{color:red}", "a{", "a,", "@media a{", "/*", "/**/", "url(", "\\", "\"", "'\n", "(", "[", "}", ";", "a{b:c;", "<!--", "@layer a;", "html ", ":root>", "\"a\"\"b'"} {
		f.Add("", s, "")
	}
	f.Add("a{b:", "url(", "}")
	f.Add("", "a,", "{b:c}")
	f.Add("a{b:", "format('a')", "}")
	f.Fuzz(func(t *testing.T, before, fragment, after string) {
		if len(before)+len(after) > 200 {
			return
		}
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 16<<10, func(s string) { Compile(s) })
	})
}

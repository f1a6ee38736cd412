package html

import (
	"testing"

	"catena/storage/growth"
)

// FuzzGrowth looks for slides that take more time than in proportion to their length.
func FuzzGrowth(f *testing.F) {
	for _, s := range []string{"<p>a</p>", "<b>", "<b><i>", "<table>", "<li>", "&amp;", "<a", " a=1", "<!--", "<style>", "<script>", "<svg>", "a\n", "<a href='&amp;'>", "</p>", "<p style='a:url(b)'>", "<template>"} {
		f.Add("<section>", s, "</section>")
	}
	f.Add("", "<section></section>", "")
	f.Add("<section><p style='", "a:url(b);", "'></section>")
	f.Add("<section><a href='", "&amp;", "'></section>")
	for _, fragment := range []string{"```go\nx\n```\n\n", "  <b>", "[a](b) - ", "[", "\t", "`~", "<!-- a=\"b\" -->", "a\n", "> <b\n> a=1> ", "javascript"} {
		f.Add("<section data-markdown><script type=\"text/template\">\n", fragment, "</script></section>")
		f.Add("<section data-markdown>", fragment, "</section>")
	}
	f.Fuzz(func(t *testing.T, before, fragment, after string) {
		if len(before)+len(after) > 200 {
			return
		}
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 16<<10, func(s string) { _, _ = Clean(t.Context(), s) })
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 16<<10, func(s string) { WithoutNotes(s) })
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 16<<10, func(s string) { HarmlessCSS(s) })
	})
}

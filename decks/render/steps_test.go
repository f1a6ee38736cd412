package render

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestStepsOf: fragments appear in the order of their indexes, however large these are, and those without one come last.
func TestStepsOf(t *testing.T) {
	for _, tt := range []struct{ slide, want string }{
		{`<p class="fragment">a</p><p class="fragment" data-fragment-index="2">b</p><p class="fragment" data-fragment-index="0">c</p>`, "c | b | a"},
		{`<p class="fragment" data-fragment-index="9223372036854775807">a</p><p class="fragment" data-fragment-index="3">b</p>`, "b | a"},
		{`<p class="fragment" data-fragment-index="1">a</p><p class="fragment" data-fragment-index="1">b</p>`, "a b"},
		{`<p class="fragment" data-fragment-index="-1">a</p><p class="fragment" data-fragment-index="1">b</p><p class="fragment" data-fragment-index="many">c</p>`, "b | a | c"},
		{`<p>a</p>`, ""},
	} {
		root, err := html.Parse(strings.NewReader(tt.slide))
		if err != nil {
			t.Fatal(err)
		}
		var steps []string
		for _, s := range stepsOf(root) {
			var texts []string
			for _, n := range s {
				texts = append(texts, n.FirstChild.Data)
			}
			steps = append(steps, strings.Join(texts, " "))
		}
		if got := strings.Join(steps, " | "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.slide, got, tt.want)
		}
	}
}

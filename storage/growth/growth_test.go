package growth

import (
	"strings"
	"testing"
)

// TestLinear checks that work which is quadratic is found, and that other work is not.
func TestLinear(t *testing.T) {
	sum := 0
	for name, fn := range map[string]func(string){
		"linear": func(s string) { sum += strings.Count(s, "a") },
		"quadratic": func(s string) {
			for i := range s {
				sum += strings.Count(s[i:], "a")
			}
		},
	} {
		inner := new(testing.T)
		Linear(inner, Repeated{"", "ab", ""}, 40_000, fn) // what is quadratic is far above what is not measured
		if inner.Failed() != (name == "quadratic") {
			t.Errorf("%s: found %v", name, inner.Failed())
		}
	}
}

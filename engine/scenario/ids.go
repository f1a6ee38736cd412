package scenario

import (
	"regexp"
)

// ids are identifiers that came, and those that a script expects in their place.
type ids struct{ came, expected map[string]string }

// idPattern matches what Clock.NewID makes.
var idPattern = regexp.MustCompile(`00000000-0000-4000-8000-[0-9]{12}`)

// runPattern matches the id of a call, which says when its server began and differs from time to time.
var runPattern = regexp.MustCompile(`[0-9a-f]{17}-[0-9a-f]{10}(\.[0-9]+)?`)

// same reports whether two texts are equal, or, unless the receiver is nil, become equal by giving each identifier one other
// name, the same in all texts of a script.
func (x *ids) same(got, want string) bool {
	if got == want || x == nil {
		return got == want
	}
	a, b := idPattern.FindAllString(got, -1), idPattern.FindAllString(want, -1)
	if idPattern.ReplaceAllString(got, "") != idPattern.ReplaceAllString(want, "") || len(a) != len(b) {
		return false
	}
	for i := range a {
		to, known := x.came[a[i]]
		from, taken := x.expected[b[i]]
		if known && to != b[i] || taken && from != a[i] {
			return false
		}
		x.came[a[i]], x.expected[b[i]] = b[i], a[i]
	}
	return true
}

//go:build !race

package ops_test

// underRace says whether the tests were built with the race detector, which takes more memory than a script worker may
// have. slower is how many times slower tests are than without it.
const (
	underRace = false
	slower    = 1
)

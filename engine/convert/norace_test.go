//go:build !race

package convert

// underRace is set when the tests were built with the race detector.
const underRace = false

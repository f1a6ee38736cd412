//go:build race

package locale

// underRace is set when the tests were built with the race detector.
const underRace = true

//go:build !race

package spreadsheet

// underRace is set when the tests were built with the race detector.
const underRace = false

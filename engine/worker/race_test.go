//go:build race && linux

package worker

// underRace is set when the tests were built with the race detector.
const underRace = true

//go:build !race

package main

// underRace says whether the tests were built with the race detector, which takes more memory than a worker may have.
const underRace = false

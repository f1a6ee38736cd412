//go:build race

package simulation

// underRace is set with the race detector, which makes a run several times as long.
const underRace = true

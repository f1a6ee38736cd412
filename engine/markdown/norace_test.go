//go:build !race

package markdown

// underRace is whether the race detector is on.
const underRace = false

//go:build race

package pdf

func init() { underRace = true }

//go:build race

package scripts

func init() { underRace = true }

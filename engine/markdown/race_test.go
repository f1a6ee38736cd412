//go:build race

package markdown

func init() { underRace = true }

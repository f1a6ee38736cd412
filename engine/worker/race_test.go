//go:build race && linux

package worker

func init() { underRace = true }

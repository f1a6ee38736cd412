//go:build race

package ops_test

func init() { underRace, slower = true, 8 }

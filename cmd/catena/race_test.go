//go:build race

package main

// The race detector takes more memory than a worker may have.
func init() { program = func() (string, error) { return builtBinary() } }

// Package startup keeps the garbage collector from running while the packages of the program initialize themselves. They allocate
// some megabytes, of which most stays; the collector, whose first goal is 4 MB, ran twice meanwhile and took a fifth of what a start
// cost the processor, of a worker too. Of the packages that could be next, Go initializes the one that is first by name, which is
// this one soon, since it needs nothing but runtime/debug.
package startup

import "runtime/debug"

// percent is what the environment (GOGC) sets. Up to 32 MB are not collected until Collect is called.
var percent = debug.SetGCPercent(800)

// Collect has the garbage collector work as the environment sets it. A program calls it once it knows what it is to do.
func Collect() { debug.SetGCPercent(percent) }

// Package lazy has regular expressions that are compiled when they are first used. To compile some seventy of them when a process
// starts took a tenth of the time that packages need to initialize themselves. Each worker of scripts, PDF files and spreadsheets is such
// a process, and uses few of them.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns a regular expression. A mistake in it is one in the program, which TestPatterns in
// cmd/catena finds.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

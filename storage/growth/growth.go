// Package growth is for tests that look for work that grows faster than its input.
package growth

import (
	"strings"
	"testing"
	"time"
)

// What counts as too fast: four times the input may take ten times as long, less than the sixteen times of work that is
// quadratic. What takes less than least is not measured.
const (
	factor = 10
	least  = 40 * time.Millisecond
	tries  = 4
)

// Linear fails a test if fn takes more than in proportion to its input: fragments of fuzzed texts repeated n and 4n
// times. before and after stand around the repeated fragment.
func Linear(t *testing.T, before, fragment, after string, size int, fn func(text string)) {
	t.Helper()
	if fragment == "" || len(fragment) > size {
		return
	}
	n := size / len(fragment)
	short, long := before+strings.Repeat(fragment, n)+after, before+strings.Repeat(fragment, 4*n)+after
	var one, four time.Duration
	for try := range tries {
		one, four = best(one, try, short, fn), best(four, try, long, fn)
		if four < least || four <= factor*one {
			return
		}
	}
	t.Errorf("%q repeated: %d bytes take %s, %d bytes %s", fragment, len(short), one, len(long), four)
}

// best is the shorter of the time that fn takes and what it took before.
func best(before time.Duration, try int, text string, fn func(string)) time.Duration {
	took := Measure(func() { fn(text) })
	if try == 0 {
		return took
	}
	return min(before, took)
}

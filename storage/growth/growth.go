// Package growth helps tests to detect work that grows faster than its input.
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

// Repeated is a text that can be made longer: Before and After are around any number of Fragment.
type Repeated struct{ Before, Fragment, After string }

func (r Repeated) times(n int) string { return r.Before + strings.Repeat(r.Fragment, n) + r.After }

// Linear fails a test if fn takes more than in proportion to its input: fragments of fuzzed texts repeated to size bytes,
// and to four times as many.
func Linear(t *testing.T, in Repeated, size int, fn func(text string)) {
	t.Helper()
	if in.Fragment == "" || len(in.Fragment) > size {
		return
	}
	n := size / len(in.Fragment)
	short, long := in.times(n), in.times(4*n)
	var one, four time.Duration
	for try := range tries {
		one, four = best(one, try, short, fn), best(four, try, long, fn)
		if four < least || four <= factor*one {
			return
		}
	}
	t.Errorf("%q repeated: %d bytes take %s, %d bytes %s", in.Fragment, len(short), one, len(long), four)
}

// best is the shorter of the time that fn takes and what it took before.
func best(before time.Duration, try int, text string, fn func(string)) time.Duration {
	took := Measure(func() { fn(text) })
	if try == 0 {
		return took
	}
	return min(before, took)
}

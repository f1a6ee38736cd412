//go:build !race

package password_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// TestGuesses has somebody guess 250,000 times in a day, from one address and from ten thousand: at
// most 7,200 are looked at.
func TestGuesses(t *testing.T) {
	for _, addresses := range []int{1, 10_000} {
		c, now, kept := guessing(t)
		var looked atomic.Int64
		const all = 250_000
		for i := range all {
			if guessFrom(t, c, fmt.Sprint("from ", i%addresses), kept, fmt.Sprint(i), &looked) {
				t.Fatal("a wrong guess is right")
			}
			now.Add(int64(24 * time.Hour / all))
		}
		t.Logf("%d addresses: %d of %d guesses looked at", addresses, looked.Load(), all)
		if got := looked.Load(); got > 7200 || got < 2000 {
			t.Errorf("%d addresses: %d of %d guesses are looked at, want at most 7,200", addresses, got, all)
		}
	}
}

package storage

import "time"

// clockSlack is how far ahead of the clock a stored moment may be: clocks are corrected by that much as they run.
const clockSlack = time.Minute

// Recent reports whether less than a span has passed since a stored moment. A moment that is ahead of now was written
// before the clock was set back, and is not recent, so that nothing lasts or waits for longer than its span because of it.
func Recent(now, at time.Time, span time.Duration) bool {
	passed := now.Sub(at)
	return -clockSlack <= passed && passed < span
}

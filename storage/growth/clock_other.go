//go:build !linux

package growth

import "time"

// Measure returns the time that fn takes.
func Measure(fn func()) time.Duration {
	began := time.Now()
	fn()
	return time.Since(began)
}

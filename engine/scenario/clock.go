package scenario

import (
	"fmt"
	"sync"
	"time"
)

// Clock is a clock that stands still until it is told to go on, and counts identifiers, so
// that the same calls give the same times and ids wherever and whenever they are made.
type Clock struct {
	mu  sync.Mutex
	now time.Time
	ids int
}

// NewClock returns a clock that shows the first second of 2025.
func NewClock() *Clock { return &Clock{now: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)} }

// Now returns the time shown.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Tick lets a second pass.
func (c *Clock) Tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
}

// NewID returns the next identifier.
func (c *Clock) NewID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", c.ids)
}

package query

import (
	"container/list"
	"sync"
)

// cacheSize and cacheLength bound the parsed queries that are kept, and the text of one.
const (
	// At most 2 MB of text, with trees of several times that. Longer texts carry lists of values as
	// a rule and are seldom repeated.
	cacheSize   = 512
	cacheLength = 4 << 10
)

// Cache keeps the queries parsed last. The zero value is ready.
type Cache struct {
	mu     sync.Mutex
	byText map[string]*list.Element
	used   list.List // of *cached, latest first
}

type cached struct {
	text  string
	query *Select
}

// Parse is the function Parse, remembered. What it returns is shared.
func (c *Cache) Parse(src string) (*Select, error) {
	c.mu.Lock()
	e, ok := c.byText[src]
	if ok {
		c.used.MoveToFront(e)
	}
	c.mu.Unlock()
	if ok {
		return e.Value.(*cached).query, nil
	}
	// Parsed without the lock: two callers may do it at once, and the later result is used once and
	// dropped. Errors are not kept, so a stream of mistakes does not push out good queries.
	q, err := Parse(src)
	if err != nil || len(src) > cacheLength {
		return q, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byText == nil {
		c.byText = map[string]*list.Element{}
	}
	if _, ok := c.byText[src]; !ok {
		c.byText[src] = c.used.PushFront(&cached{src, q})
	}
	if c.used.Len() > cacheSize {
		last := c.used.Back()
		c.used.Remove(last)
		delete(c.byText, last.Value.(*cached).text)
	}
	return q, nil
}

package main

import (
	"fmt"
	"runtime"
	"strings"

	"catena/storage/kv"
)

// note remembers who called for a read, if it took a round trip.
func (c *tripCounted) note(what string, before int) {
	if c.RoundTrips() == before {
		return
	}
	pcs := make([]uintptr, 60)
	n := runtime.Callers(3, pcs)
	fr := runtime.CallersFrames(pcs[:n])
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", what)
	for {
		f, more := fr.Next()
		name := f.Function
		if strings.HasPrefix(name, "catena/") {
			fmt.Fprintf(&b, " < %s:%d", strings.TrimPrefix(name, "catena/"), f.Line)
		}
		if !more {
			break
		}
	}
	c.of.mu.Lock()
	c.of.trace = append(c.of.trace, b.String())
	c.of.mu.Unlock()
}

func (c *tripCounted) Get(key []byte) ([]byte, error) {
	n := c.RoundTrips()
	v, err := c.Remote.Get(key)
	c.note(fmt.Sprintf("get %q", key), n)
	return v, err
}

func (c *tripCounted) GetMany(keys [][]byte) ([][]byte, error) {
	n := c.RoundTrips()
	v, err := c.Remote.GetMany(keys)
	c.note(fmt.Sprintf("getmany %d %.60q", len(keys), keys), n)
	return v, err
}

func (c *tripCounted) Version() uint64 {
	n := c.RoundTrips()
	v := c.Remote.Version()
	c.note("version", n)
	return v
}

func (c *tripCounted) Prefetch(keys [][]byte, ranges []kv.Range) error {
	for _, k := range keys {
		c.asked[string(k)] = true
	}
	c.of.mu.Lock()
	c.of.fetched += len(keys)
	c.of.mu.Unlock()
	n := c.RoundTrips()
	err := c.Remote.Prefetch(keys, ranges)
	c.note(fmt.Sprintf("prefetch %d %d", len(keys), len(ranges)), n)
	return err
}

func (c *tripCounted) Latest(key []byte) ([]byte, error) {
	n := c.RoundTrips()
	v, err := c.Remote.Latest(key)
	c.note(fmt.Sprintf("latest %q", key), n)
	return v, err
}

func (c *tripCounted) Count(r kv.Range) (int, error) {
	n := c.RoundTrips()
	v, err := c.Remote.Count(r)
	c.note(fmt.Sprintf("count %q", r.Start), n)
	return v, err
}

func (c *tripCounted) Stamp() (uint64, error) {
	n := c.RoundTrips()
	v, err := c.Remote.Stamp()
	c.note("stamp", n)
	return v, err
}

func (c *tripCounted) Settled() (uint64, error) {
	n := c.RoundTrips()
	v, err := c.Remote.Settled()
	c.note("settled", n)
	return v, err
}

// tripCursor notes the round trips of a scan.
type tripCursor struct {
	kv.Cursor
	c *tripCounted
	r kv.Range
}

func (c *tripCursor) Next() bool {
	n := c.c.RoundTrips()
	v := c.Cursor.Next()
	c.c.note(fmt.Sprintf("scan %.80q limit %d", c.r.Start, c.r.Limit), n)
	return v
}

func (c *tripCursor) Value() ([]byte, error) {
	n := c.c.RoundTrips()
	v, err := c.Cursor.Value()
	c.c.note(fmt.Sprintf("scan value %.80q", c.r.Start), n)
	return v, err
}

func (c *tripCounted) Scan(r kv.Range) kv.Cursor {
	n := c.RoundTrips()
	v := c.Remote.Scan(r)
	c.note(fmt.Sprintf("scan0 %.80q", r.Start), n)
	return &tripCursor{v, c, r}
}

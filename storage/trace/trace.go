// Package trace follows distributed traces (W3C Trace Context): they are read from requests, passed on with contexts
// and jobs, and written to outgoing requests. What happens within a trace is the engine's to record.
package trace

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
)

// Trace is a trace that work belongs to.
type Trace struct {
	ID      string // 32 hexadecimal digits
	Sampled bool   // the one who began it records it
	Span    string `json:",omitempty"` // 16 hexadecimal digits: what of the trace causes the work; "" if nothing is known to
}

// New begins a trace.
func New() Trace { return Trace{ID: random(16)} }

// random returns n bytes, at most 16, in hexadecimal digits. Ids of traces are no secrets, and every recorded call has one.
func random(n int) string {
	var raw [16]byte
	binary.LittleEndian.PutUint64(raw[:], rand.Uint64())  //nolint:gosec // as said
	binary.LittleEndian.PutUint64(raw[8:], rand.Uint64()) //nolint:gosec // as said
	return hex.EncodeToString(raw[:n])
}

// Parse reads the value of a traceparent header; ok is false if it is none.
func Parse(parent string) (t Trace, ok bool) {
	part := strings.Split(parent, "-")
	if len(part) < 4 || part[0] == "ff" || !digits(part[0], 2) || !digits(part[1], 32) || !digits(part[2], 16) || !digits(part[3], 2) {
		return t, false
	}
	if strings.Trim(part[1], "0") == "" || strings.Trim(part[2], "0") == "" {
		return t, false
	}
	flags, _ := hex.DecodeString(part[3])
	return Trace{ID: part[1], Sampled: flags[0]&1 == 1, Span: part[2]}, true
}

// digits reports whether a text is so many hexadecimal digits, in lower case.
func digits(text string, n int) bool {
	return len(text) == n && strings.Trim(text, "0123456789abcdef") == ""
}

// Parent is a value of the header traceparent for something that the work causes. The header must name a span, so a
// trace without one gets one that nobody records, another each time.
func (t Trace) Parent() string {
	span, flags := t.Span, "-00"
	if span == "" {
		span = random(8)
	}
	if t.Sampled {
		flags = "-01"
	}
	return "00-" + t.ID + "-" + span + flags
}

// Key finds a trace in a context.
type Key struct{}

// With returns a context for work that belongs to a trace.
func With(ctx context.Context, t Trace) context.Context { return context.WithValue(ctx, Key{}, t) }

// Of returns the trace that work belongs to; ok is false if it belongs to none.
func Of(ctx context.Context) (t Trace, ok bool) {
	t, ok = ctx.Value(Key{}).(Trace)
	return t, ok
}

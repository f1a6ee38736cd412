package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// TraceStore keeps the traces of recent calls, a bounded number for a bounded time.
type TraceStore struct {
	recording atomic.Bool
	shown     atomic.Bool
	clock     func() time.Time
	most      int
	keep      time.Duration

	mu     sync.Mutex
	byID   map[string]*Trace
	order  []*Trace // oldest first
	latest map[string]*Trace
	failed *Trace
	bytes  int // all of them take, about
}

// maxTraceBytes bounds what all traces take.
const maxTraceBytes = 64 << 20

// size is about what a trace takes in memory.
func (t *Trace) size() int {
	n := 300 + len(t.Op) + len(t.Input) + len(t.Output) + len(t.Error)
	for name, v := range t.Params {
		n += 64 + len(name) + len(v)
	}
	for _, s := range t.Steps {
		n += s.size()
	}
	return n
}

func newTraceStore(l Limits, clock func() time.Time) *TraceStore {
	return &TraceStore{clock: clock, most: l.TraceRuns, keep: l.TraceMinute, byID: map[string]*Trace{}, latest: map[string]*Trace{}}
}

// Recording reports whether every call is recorded.
func (s *TraceStore) Recording() bool { return s.recording.Load() }

// SetRecording begins or ends the recording of every call.
func (s *TraceStore) SetRecording(on bool) { s.recording.Store(on) }

// Shown reports whether answers to calls that failed have their traces.
func (s *TraceStore) Shown() bool { return s.shown.Load() }

// Show says whether they have.
func (s *TraceStore) Show(on bool) { s.shown.Store(on) }

// Failure returns the trace of the last call of a request that failed, nil if none is kept.
func (s *TraceStore) Failure(request string) *Trace {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	for _, t := range slices.Backward(s.order) {
		if t.Request == request && t.Error != "" {
			return t
		}
	}
	return nil
}

// Find returns the trace of an id, nil if it is not kept.
func (s *TraceStore) Find(id string) *Trace {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	return s.byID[id]
}

// Latest returns the latest trace of an operation or chain, nil if none is kept.
func (s *TraceStore) Latest(name string) *Trace {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	return s.latest[name]
}

// LastError returns the trace of the last call that failed, nil if none is kept.
func (s *TraceStore) LastError() *Trace {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	return s.failed
}

// Recent returns the traces kept, newest first.
func (s *TraceStore) Recent() []*Trace {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	out := make([]*Trace, 0, len(s.order))
	for i := len(s.order) - 1; i >= 0; i-- {
		out = append(out, s.order[i])
	}
	return out
}

func (s *TraceStore) add(t *Trace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID[t.ID], s.latest[t.Op] = t, t
	s.order = append(s.order, t)
	s.bytes += t.size()
	if t.Error != "" {
		s.failed = t
	}
	s.forget()
}

// forget drops what is too old or too much.
func (s *TraceStore) forget() {
	oldest := s.clock().Add(-s.keep)
	for len(s.order) > 0 && (len(s.order) > s.most || s.bytes > maxTraceBytes || s.order[0].Start.Before(oldest)) {
		t := s.order[0]
		s.order[0] = nil
		s.order = s.order[1:]
		s.bytes -= t.size()
		if s.byID[t.ID] == t {
			delete(s.byID, t.ID)
		}
		if s.latest[t.Op] == t {
			delete(s.latest, t.Op)
		}
		if s.failed == t {
			s.failed = nil
		}
	}
}

// traceDone keeps the trace of a call that went well.
func (e *Engine) traceDone(r *running) {
	if r.root == nil || r.bare {
		return
	}
	r.root.Duration = time.Since(r.root.Start)
	r.res.Trace = r.root
	if r.call.Trace || e.traces.Recording() {
		e.traces.add(r.root)
	}
}

// traceFailure keeps the trace of a call that failed; without recording it is made of the
// names of the operations that the error names.
func (e *Engine) traceFailure(r *running, err error) {
	t := r.root
	if t == nil || r.bare {
		t = r.newTrace(r.began)
		t.Duration, t.Steps = time.Since(r.began), r.failedSteps(err)
	}
	_, cause := root(err)
	t.Error = r.shown(cause.Error(), maxSummary)
	r.res.Trace = t
	e.traces.add(t)
}

// failedSteps lists the operations that an error went through, outermost first.
func (r *running) failedSteps(err error) []*Trace {
	var e *Error
	if !errors.As(err, &e) || !errors.As(e.Err, &e) {
		return nil
	}
	return []*Trace{{Op: e.Op, Error: r.shown(e.Err.Error(), maxSummary), Steps: r.failedSteps(e)}}
}

func countOf(n int, what string) string { return strconv.Itoa(n) + " " + what }

// Text writes the trace for people: one operation after the other, those within indented.
func (t *Trace) Text() string {
	var b strings.Builder
	heading(&b, 0, "chain")
	fmt.Fprintf(&b, "Name: %s\n", t.Op)
	if t.Error != "" {
		fmt.Fprintf(&b, "Caught error: %s\n", t.Error)
	} else {
		fmt.Fprintf(&b, "Produced output: %s\n", t.Output)
	}
	heading(&b, 0, "Hierarchy calls")
	t.text(&b, 1)
	return b.String()
}

func heading(b *strings.Builder, depth int, text string) {
	fmt.Fprintf(b, "%s****** %s ******\n", strings.Repeat("\t", depth), text)
}

func (t *Trace) text(b *strings.Builder, depth int) {
	heading(b, depth, t.Op)
	tab := strings.Repeat("\t", depth)
	if t.Line > 0 {
		fmt.Fprintf(b, "%sLine: %d\n", tab, t.Line)
	}
	if t.Input != "" {
		fmt.Fprintf(b, "%sInput: %s\n", tab, t.Input)
	}
	for _, name := range sortedNames(t.Params) {
		fmt.Fprintf(b, "%sParameters | Name: %s, Value: %s\n", tab, name, t.Params[name])
	}
	if t.Error != "" {
		fmt.Fprintf(b, "%sError: %s\n", tab, t.Error)
	}
	if len(t.Steps) == 0 {
		return
	}
	heading(b, depth, "start sub chain")
	for _, s := range t.Steps {
		s.text(b, depth+1)
	}
	heading(b, depth, "end sub chain")
}

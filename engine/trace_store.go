package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/fault"
	"catena/storage/search"
)

// TraceStore keeps the traces of recent calls of this server, a bounded number for a bounded time. Other servers of a store are
// asked for theirs, so that nothing is written for traces that nobody reads.
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
	if len(t.Params) > 0 {
		for name, v := range t.Params {
			n += 64 + len(name) + len(v)
		}
	}
	for _, lines := range [...][]string{t.Console, t.Warnings} {
		for _, line := range lines {
			n += 16 + len(line)
		}
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

// SetRecording begins or ends the recording of every call of this server.
func (s *TraceStore) SetRecording(on bool) { s.recording.Store(on) }

// Shown reports whether answers to calls that failed have their traces.
func (s *TraceStore) Shown() bool { return s.shown.Load() }

// Show says whether they have on this server.
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
	out := slices.Clone(s.order)
	slices.Reverse(out)
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

// ShownTrace is a kept trace in a list, without its steps.
type ShownTrace struct {
	ID       string        `json:"id"`
	Op       string        `json:"op"`
	Status   string        `json:"status"` // ok or failed
	Error    string        `json:"error,omitempty"`
	User     string        `json:"user"`
	Start    time.Time     `json:"start"`
	Duration time.Duration `json:"duration"` // in nanoseconds
	Request  string        `json:"requestId,omitempty"`
}

// TraceFilter chooses traces; what is empty chooses all.
type TraceFilter struct {
	Op, Request, Status, User string
	Limit                     int // at most
}

func (f *TraceFilter) fits(s *ShownTrace) bool {
	fits := func(want, got string) bool { return want == "" || want == got }
	return fits(f.Op, s.Op) && fits(f.Request, s.Request) && fits(f.Status, s.Status) && fits(f.User, s.User)
}

// list returns those of the traces that are for somebody to see, newest first: administrators see all, others their own.
func (s *TraceStore) list(as *Principal, f *TraceFilter) []ShownTrace {
	out := []ShownTrace{}
	for _, t := range s.Recent() {
		one := ShownTrace{ID: t.ID, Op: t.Op, Status: "ok", Error: t.Error, User: t.User, Start: t.Start, Duration: t.Duration, Request: t.Request}
		if t.Error != "" {
			one.Status = "failed"
		}
		if len(out) < f.Limit && t.SeenBy(as) && f.fits(&one) {
			out = append(out, one)
		}
	}
	return out
}

// text returns the latest trace of an operation or chain, or with "" that of the last call that failed, for people.
func (s *TraceStore) text(op string) (out writtenTrace) {
	t := s.LastError()
	if op != "" {
		t = s.Latest(op)
	}
	if t != nil {
		out = writtenTrace{t.Start, t.Text()}
	}
	return out
}

// writtenTrace is a trace as people read it; the zero value is none.
type writtenTrace struct {
	Start time.Time
	Text  string
}

// The questions of servers to each other.
const askTraces, askTrace, askText, askSwitch, askSlow = "traces", "trace", "trace text", "trace switch", "slow queries"

// tracesOf asks for the traces that are for somebody to see, or for one of them.
type tracesOf struct {
	storage.Owned
	Admin  bool
	ID     string
	Filter TraceFilter
}

func (q *tracesOf) principal() *Principal {
	return &Principal{Name: q.Owner, ID: q.OwnerID, Admin: q.Admin}
}

// traceSwitch turns on or off what is not nil.
type traceSwitch struct{ Record, Show *bool }

// AnswerOthers answers what other servers of the store ask about this one, until ctx ends.
func (e *Engine) AnswerOthers(ctx context.Context) error {
	return e.others.Load().Answer(ctx, cluster.Answers{
		askTraces: replyTo(func(q tracesOf) (any, error) { return e.traces.list(q.principal(), &q.Filter), nil }),
		askTrace: replyTo(func(q tracesOf) (any, error) {
			if t := e.traces.Find(q.ID); t != nil && t.SeenBy(q.principal()) {
				return t, nil
			}
			return nil, nil //nolint:nilnil // there is none
		}),
		askText:   replyTo(func(op string) (any, error) { return e.traces.text(op), nil }),
		askSwitch: replyTo(func(s traceSwitch) (any, error) { return nil, e.traces.turn(s) }),
		askSlow: replyTo(func(repository string) (any, error) {
			if other := e.Named(repository); other != nil {
				return search.Slowest(other.repo), nil
			}
			return nil, nil //nolint:nilnil // there is none
		}),
	})
}

// replyTo has fn answer questions of a type.
func replyTo[Q any](fn func(Q) (any, error)) func(context.Context, json.RawMessage) (any, error) {
	return func(_ context.Context, raw json.RawMessage) (any, error) {
		var q Q
		if err := json.Unmarshal(raw, &q); err != nil {
			return nil, err
		}
		return fn(q)
	}
}

// askOthers asks the other servers of the store, if there are any. What one of them keeps is missing if it does not answer, since
// what the others have is better than an error.
func askOthers[T any](ctx context.Context, e *Engine, name string, q any) []T {
	all, silent, err := cluster.Ask[T](ctx, e.others.Load(), name, q)
	if err != nil || len(silent) > 0 {
		e.log.Warn("other servers have not answered", "question", name, "servers", silent, "error", err)
	}
	return slices.Collect(maps.Values(all))
}

func (s *TraceStore) turn(to traceSwitch) error {
	if to.Record != nil {
		s.SetRecording(*to.Record)
	}
	if to.Show != nil {
		s.Show(*to.Show)
	}
	return nil
}

// Turn turns the recording of every call, and the display of traces, on or off on all servers; nil leaves one as it is.
func (e *Engine) Turn(ctx context.Context, record, show *bool) error {
	s := traceSwitch{record, show}
	askOthers[any](ctx, e, askSwitch, s)
	return e.traces.turn(s)
}

// ListTraces returns the traces of all servers that are for somebody to see, newest first.
func (e *Engine) ListTraces(ctx context.Context, as *Principal, f TraceFilter) []ShownTrace {
	all := e.traces.list(as, &f)
	for _, more := range askOthers[[]ShownTrace](ctx, e, askTraces, tracesOf{Owned: storage.OwnedBy(as), Admin: as.Admin, Filter: f}) {
		all = append(all, more...)
	}
	slices.SortStableFunc(all, func(a, b ShownTrace) int { return b.Start.Compare(a.Start) })
	return all[:min(len(all), f.Limit)]
}

// ReadTrace returns a trace of any server as JSON. It is an error of kind NotFound if it is not kept, or not for somebody to see.
func (e *Engine) ReadTrace(ctx context.Context, as *Principal, id string) (json.RawMessage, error) {
	if t := e.traces.Find(id); t != nil && t.SeenBy(as) {
		return json.Marshal(t)
	}
	for _, raw := range askOthers[json.RawMessage](ctx, e, askTrace, tracesOf{Owned: storage.OwnedBy(as), Admin: as.Admin, ID: id}) {
		if string(raw) != "null" {
			return raw, nil
		}
	}
	return nil, fault.NotFound.Errorf("trace %s", id)
}

// TraceText returns the latest trace of an operation or chain, or with "" that of the last call that failed, of all servers, for
// people; "" if there is none.
func (e *Engine) TraceText(ctx context.Context, op string) string {
	newest := e.traces.text(op)
	for _, t := range askOthers[writtenTrace](ctx, e, askText, op) {
		if t.Start.After(newest.Start) {
			newest = t
		}
	}
	return newest.Text
}

// SlowQueries returns the shapes of queries that were slow or refused since the servers started.
func (e *Engine) SlowQueries(ctx context.Context) []search.SlowQuery {
	return search.JoinSlow(search.Slowest(e.repo), askOthers[[]search.SlowQuery](ctx, e, askSlow, e.repoName())...)
}

// traceDone keeps the trace of a call that went well.
func (e *Engine) traceDone(r *running) {
	if r.root == nil || r.bare {
		return
	}
	r.root.Duration = time.Since(r.root.Start)
	if r.alone() {
		return
	}
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
		t.Steps = r.failedSteps(err)
	}
	t.Duration = time.Since(t.Start)
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

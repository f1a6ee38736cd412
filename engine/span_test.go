package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/storagetest"
	"catena/storage/trace"
)

// listened stands for a collector: it takes part in every call, or in none.
type listened struct {
	mu      sync.Mutex
	deaf    bool
	began   int
	ended   []*Span
	causes  []trace.Trace
	ownSpan string
}

func (l *listened) spans(caused trace.Trace, _ *Span) (trace.Trace, func(*Span)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began++
	l.causes = append(l.causes, caused)
	own := trace.Trace{ID: caused.ID, Sampled: !l.deaf, Span: l.ownSpan}
	if own.ID == "" {
		own.ID = strings.Repeat("c", 32)
	}
	if l.deaf {
		return own, nil
	}
	return own, func(s *Span) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ended = append(l.ended, s)
	}
}

// tree writes the names of steps with their codes.
func tree(steps []*Trace) string {
	var out []string
	for _, s := range steps {
		text := s.Op
		if s.Code != "" {
			text += "!" + s.Code
		}
		if inner := tree(s.Steps); inner != "" {
			text += "(" + inner + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// TestSpans has every call told once, however it ends, with the operations that it ran and without a value.
func TestSpans(t *testing.T) {
	tests := []struct {
		name  string
		call  Call
		steps string // below the operation
		fails string // kind
	}{
		{name: "a call", call: Call{Op: "Test.Nothing"}},
		{name: "a call within a call", call: Call{Op: "Test.Call", Params: map[string]any{"op": "Test.Nothing"}}, steps: "Test.Nothing"},
		{name: "one that fails", call: Call{Op: "Test.Fail"}, fails: "conflict"},
		{name: "one that fails within", call: Call{Op: "Test.Call", Params: map[string]any{"op": "Test.Fail"}}, steps: "Test.Fail!conflict", fails: "conflict"},
		{name: "one that panics", call: Call{Op: "Test.Fail", Params: map[string]any{"kind": "panic"}}, fails: "internal"},
		{name: "a wrong parameter", call: Call{Op: "Test.Many", Params: map[string]any{}}, fails: "invalid"},
		{name: "an input that is not there", call: Call{Op: "Test.Create", Input: "/nope"}, fails: "notfound"},
		{name: "a dry run", call: Call{Op: "Test.Create", Input: "/", DryRun: true}},
		{name: "one whose time is over", call: Call{Op: "Test.Slow", Timeout: time.Millisecond}, fails: "limit"},
		{name: "one for nobody", call: Call{Op: "Test.Nothing", As: &storage.Principal{}}, fails: "denied"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := testEngine(t)
			l := &listened{}
			e.SetSpans(l.spans)
			call := test.call
			call.RequestID, call.EntryPoint = "r-1", REST
			if call.As == nil {
				call.As = &storage.Principal{Name: "ann", Admin: true}
			} else {
				call.As = nil
			}
			before := time.Now()
			res, err := e.Run(t.Context(), call)
			if len(l.ended) != 1 || l.began != 1 {
				t.Fatalf("began %d, ended %d times", l.began, len(l.ended))
			}
			s := l.ended[0]
			if test.fails != "" || err != nil {
				if kind := fault.Of(s.Err).String(); kind != test.fails || !errors.Is(err, s.Err) {
					t.Errorf("told %v, want %s and %v", s.Err, test.fails, err)
				}
			} else if res.Trace != nil {
				t.Error("the caller sees a trace that it did not ask for")
			}
			if got := tree(s.Steps); got != test.steps {
				t.Errorf("steps %q, want %q", got, test.steps)
			}
			if s.Op != call.Op || s.Request != "r-1" || s.EntryPoint != REST || s.Repository != "default" || call.As != nil && s.User != "ann" {
				t.Errorf("told %+v", s)
			}
			if s.Start.Before(before) || s.End.Before(s.Start) || time.Now().Before(s.End) {
				t.Errorf("from %v to %v, and it began after %v", s.Start, s.End, before)
			}
			bare(t, s.Steps)
		})
	}
}

// bare fails if a step shows what it was given or returned.
func bare(t *testing.T, steps []*Trace) {
	t.Helper()
	for _, s := range steps {
		if s.Input != "" || s.Output != "" || s.Error != "" || s.Params != nil || s.Console != nil || s.Changes != nil || s.Warnings != nil {
			t.Errorf("step %s shows %+v", s.Op, s)
		}
		bare(t, s.Steps)
	}
}

// TestSpansOfWork has work of the server and calls in the background told, too, and those that begin again once.
func TestSpansOfWork(t *testing.T) {
	e := testEngine(t)
	l := &listened{}
	e.SetSpans(l.spans)
	call := Call{Op: "Bulk.Work", As: e.System(), EntryPoint: Listener}
	attempts := 0
	err := e.Work(t.Context(), call, Writes, func(tx *storage.Tx) error {
		if attempts++; attempts == 1 { // another one was faster
			if err := e.Work(context.Background(), Call{Op: "Other", As: e.System()}, Writes, func(tx *storage.Tx) error { return rename(tx, "first") }); err != nil {
				return err
			}
		}
		if err := rename(tx, "second"); err != nil {
			return err
		}
		return e.Within(tx, e.System(), Listener, "step", func(c *Ctx) error {
			_, err := c.Call("Test.Nothing", nil, nil)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	if _, err := e.Start(t.Context(), Call{Op: "Test.Fail", As: e.System()}, func(string) error { return nil }, func(_ *Result, err error) { done <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the call in the background went well")
	}
	if _, err := e.RunFunc(t.Context(), Reads, func(c *Ctx) (any, error) { return c.Call("Test.Who", nil, nil) }, Call{Op: "Batch", As: e.System()}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range l.ended {
		got = append(got, s.Op+"("+tree(s.Steps)+")")
	}
	if want := "Other() Bulk.Work(step(Test.Nothing)) Test.Fail() Batch(Test.Who)"; strings.Join(got, " ") != want || l.began != 4 {
		t.Errorf("told %v of %d that began, want %s", got, l.began, want)
	}
}

// rename writes what others write, too.
func rename(tx *storage.Tx, title string) error {
	d, err := tx.Root()
	if err == nil {
		err = d.Set("dc:title", title)
	}
	if err == nil {
		_, err = tx.Save(d, storage.SaveOptions{})
	}
	return err
}

// TestSpansChangeNothing compares what callers and administrators see with and without somebody who is told.
func TestSpansChangeNothing(t *testing.T) {
	see := func(tell bool) (out string) {
		e := testEngine(t)
		if tell {
			e.SetSpans((&listened{}).spans)
		}
		for _, call := range []Call{
			{Op: "Test.Call", Params: map[string]any{"op": "Test.Fail"}},
			{Op: "Test.Create", Input: "/", DryRun: true},
			{Op: "Test.Text", Input: "x", Trace: true},
			{Op: "Test.Nothing"},
		} {
			call.As = e.System()
			res, err := e.Run(t.Context(), call)
			if err == nil {
				out += show(res.Value) + timeless(t, res.Trace)
			} else {
				out += err.Error()
			}
		}
		for _, kept := range e.Traces().Recent() {
			out += timeless(t, kept)
		}
		return out
	}
	if with, without := see(true), see(false); with != without {
		t.Errorf("told:\n%s\nnot told:\n%s", with, without)
	}
}

// timeless writes a trace without its id and times.
func timeless(t *testing.T, tr *Trace) string {
	t.Helper()
	if tr == nil {
		return "-"
	}
	short := *tr
	short.ID, short.Start, short.Duration, short.Steps = "", time.Time{}, 0, nil
	raw, err := json.Marshal(short)
	if err != nil {
		t.Fatal(err)
	}
	out := string(raw)
	for _, s := range tr.Steps {
		out += "<" + timeless(t, s) + ">"
	}
	return out
}

// TestSpansUnsampled records nothing of calls that nobody wants to be told of, and passes their traces on.
func TestSpansUnsampled(t *testing.T) {
	var within, after trace.Trace
	look := Op{Name: "Test.Look", Doc: "d", Callers: Anyone, Run: On(func(_ none, c *Ctx, _ Void) (Void, error) {
		if c.trace != nil {
			t.Error("is recorded")
		}
		within, _ = trace.Of(c)
		c.After(func(ctx context.Context) error {
			after, _ = trace.Of(ctx)
			return nil
		})
		return Void{}, nil
	})}
	e := testEngine(t, look)
	l := &listened{deaf: true, ownSpan: "00000000000000aa"}
	e.SetSpans(l.spans)
	id := strings.Repeat("d", 32)
	ctx, ok := e.Joined(t.Context(), "00-"+id+"-00000000000000bb-01")
	if !ok {
		t.Fatal("the header was not read")
	}
	if _, err := e.Run(ctx, Call{Op: "Test.Look", As: e.System()}); err != nil {
		t.Fatal(err)
	}
	want := trace.Trace{ID: id, Span: "00000000000000aa"}
	if within != want || after != want {
		t.Errorf("within %v, after the commit %v, want %v", within, after, want)
	}
	if cause := (trace.Trace{ID: id, Sampled: true, Span: "00000000000000bb"}); l.causes[0] != cause {
		t.Errorf("caused by %v, want %v", l.causes[0], cause)
	}
	if len(e.Traces().Recent()) != 0 {
		t.Error("a trace is kept")
	}
}

// TestJoined has a request without the header belong to a trace only while somebody is told.
func TestJoined(t *testing.T) {
	e := New(Config{Set: testSet(t), Log: slog.New(slog.DiscardHandler)})
	if ctx, ok := e.Joined(t.Context(), ""); ok || ctx != t.Context() || TraceID(ctx) != "" {
		t.Error("a request belongs to a trace although nobody is told")
	}
	if _, ok := e.Joined(t.Context(), "00-xyz"); ok {
		t.Error("a header that is none names a trace")
	}
	e.SetSpans((&listened{}).spans)
	a, ok := e.Joined(t.Context(), "")
	b, _ := e.Joined(t.Context(), "")
	if !ok || len(TraceID(a)) != 32 || TraceID(a) == TraceID(b) {
		t.Errorf("two requests belong to %q and %q", TraceID(a), TraceID(b))
	}
	if other := SameTrace(context.Background(), a); TraceID(other) != TraceID(a) || SameTrace(t.Context(), t.Context()) != t.Context() {
		t.Error("other work does not belong to the same trace")
	}
}

// TestSpansOffCostNothing counts what a call allocates: while nobody is told it is what it was before there was such a thing.
func TestSpansOffCostNothing(t *testing.T) {
	e := New(Config{Repo: storagetest.Open(t, nil), Set: testSet(t), Log: slog.New(slog.DiscardHandler)})
	call := Call{Op: "Test.Nothing", As: e.System()}
	got := testing.AllocsPerRun(1000, func() {
		if _, err := e.Run(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	})
	if got > mostAllocations {
		t.Errorf("a call allocates %v times, want at most %v", got, mostAllocations)
	}
}

// mostAllocations of a call of an operation that does nothing: its result, and nothing else.
const mostAllocations = 1

package engine

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
	"catena/storage/trace"
)

// Trace is the record of one operation within a call, and of those it ran.
type Trace struct {
	ID       string            `json:"id,omitempty"` // W3C trace id, of the outermost only
	Op       string            `json:"op"`
	Input    string            `json:"input,omitempty"`
	Output   string            `json:"output,omitempty"`
	Error    string            `json:"error,omitempty"`
	Params   map[string]string `json:"params,omitempty"` // without secrets
	Start    time.Time         `json:"start"`
	Duration time.Duration     `json:"duration"`
	Line     int               `json:"line,omitempty"`
	User     string            `json:"user,omitempty"`
	Request  string            `json:"requestId,omitempty"`
	Console  []string          `json:"console,omitempty"` // lines that a script printed
	Warnings []string          `json:"warnings,omitempty"`
	Changes  []storage.Change  `json:"changes,omitempty"` // of a step of a dry run, the first ones if they are many
	Steps    []*Trace          `json:"steps,omitempty"`

	Code string `json:"-"` // kind or code of the error; "" if the operation went well

	owner  storage.Owned
	up     *Trace
	secret bool // what it returned is
	noted  int  // changes before it
}

const (
	maxSummary = 256
	maxChanges = 50 // of a step
)

// maxPrinted is how many bytes of what a call prints are recorded.
const maxPrinted = 4096

// Joined returns a context for the calls of a request with this traceparent header ("" if it has none). While calls are
// told to a collector, those of a request without the header share a trace of their own.
func (e *Engine) Joined(ctx context.Context, parent string) (joined context.Context, ok bool) {
	t, ok := trace.Parse(parent)
	if !ok {
		if e.spans.Load() == nil {
			return ctx, false
		}
		t = trace.New()
	}
	return trace.With(ctx, t), true
}

// SameTrace returns ctx for work that belongs to the trace of another context.
func SameTrace(ctx, of context.Context) context.Context {
	if t, ok := trace.Of(of); ok {
		return trace.With(ctx, t)
	}
	return ctx
}

// TraceID returns the W3C trace id that calls with a context belong to, "" if there is none yet.
func TraceID(ctx context.Context) string {
	t, _ := trace.Of(ctx)
	return t.ID
}

// distributed is the trace that the call belongs to: that of what caused it, or one of its own.
func (r *running) distributed() trace.Trace {
	r.end.mu.Lock()
	defer r.end.mu.Unlock()
	if r.traced.ID == "" {
		var ok bool
		if r.traced, ok = trace.Of(r.end.Context); !ok {
			r.traced = trace.New()
		}
	}
	return r.traced
}

// newTrace returns the trace of a call that began then, without anything in it.
func (r *running) newTrace(began time.Time) *Trace {
	return &Trace{
		ID: r.distributed().ID, Op: r.def.Name, Start: began,
		User: r.call.As.Name, owner: storage.OwnedBy(r.call.As), Request: r.call.RequestID,
	}
}

// stepRoom is for how many steps of a trace memory is taken at once, at most. They are kept, and forgotten, together.
const stepRoom = 16

// room takes memory for the traces of steps that are about to run.
func (c *Ctx) room(steps int) {
	r := c.run
	if c.trace == nil || r == nil || len(r.spare) > 0 {
		return
	}
	if r.slab == nil && r.alone() {
		r.slab = slabs.Get().(*[stepRoom]Trace)
		r.spare = r.slab[:]
	} else {
		r.spare = make([]Trace, min(steps, stepRoom))
	}
	if c.trace.Steps == nil {
		c.trace.Steps = make([]*Trace, 0, min(steps, stepRoom))
	}
}

// slabs are memory for traces that nobody sees but the recorder.
var slabs = sync.Pool{New: func() any { return new([stepRoom]Trace) }}

// giveBack has the memory of a trace that was packed be used again.
func giveBack(slab *[stepRoom]Trace) {
	if slab != nil {
		clear(slab[:])
		slabs.Put(slab)
	}
}

// alone reports whether the trace of the call is for the recorder alone.
func (r *running) alone() bool {
	return r.recording && !r.bare && r.told == nil && !r.call.Trace && !r.e.traces.Recording()
}

// newStep returns an empty trace for a step.
func (r *running) newStep() *Trace {
	if len(r.spare) == 0 {
		r.spare = make([]Trace, min(max(1, r.steps-1), stepRoom))
	}
	t := &r.spare[0]
	r.spare = r.spare[1:]
	return t
}

// SeenBy reports whether somebody may see the trace: administrators see all, others those of their own calls, and not of one who had
// the name before.
func (t *Trace) SeenBy(p *Principal) bool { return p.Admin || t.owner.Is(p) }

// Span is a call as a collector of traces is told of it. How it ended is known at its end only.
type Span struct {
	Op, Repository string
	EntryPoint     EntryPoint
	User, Request  string
	Start, End     time.Time
	Attempts       int
	Err            error
	Steps          []*Trace // with Op, Start, Duration, Line, Code and Steps; Duration is 0 of what did not end
}

// Spans is asked about every call that begins. It returns the trace that the call and what it causes belong to, given the one
// that the caller's work belongs to (the zero value if it belongs to none), and what is called with the call at its end, once; nil
// if nobody wants to know.
type Spans func(caused trace.Trace, s *Span) (own trace.Trace, end func(*Span))

// SetSpans has calls that begin from now on be told to a collector.
func (e *Engine) SetSpans(s Spans) { e.spans.Store(&s) }

// beginSpan asks whether the call is to be told.
func (r *running) beginSpan(s Spans) {
	caused, _ := trace.Of(r.end.Context)
	r.traced, r.told = s(caused, &Span{Op: r.def.Name, Repository: r.e.repoName(), EntryPoint: r.args.EntryPoint, Request: r.args.RequestID, Start: r.began})
}

// endSpan tells how the call ended.
func (r *running) endSpan(err error) {
	if r.told == nil {
		return
	}
	s := &Span{
		Op: r.def.Name, Repository: r.e.repoName(), EntryPoint: r.args.EntryPoint, Request: r.args.RequestID,
		Start: r.began, End: time.Now(), Attempts: r.res.Attempts, Err: err,
	}
	if r.args.As != nil {
		s.User = r.args.As.Name
	}
	if r.root != nil {
		s.Steps = r.root.Steps
	}
	r.told(s)
}

// beginTrace starts recording if the call, or the engine, is to be recorded, or a collector is told of the call.
func (r *running) beginTrace() {
	r.bare = !r.recording && !r.call.Trace && !r.e.traces.Recording()
	if r.bare && r.told == nil {
		return
	}
	r.root = r.newTrace(time.Now())
}

// StepTrace is what was recorded of a call within a call.
type StepTrace struct {
	trace *Trace // nil: nothing was
	steps int    // that counted towards the bound of the trace
}

// CallStep is Call for a call that may turn out not to have been made: one whose answer is prepared before it is asked for. What
// is recorded of it can be taken back by Unmade.
func (c *Ctx) CallStep(name string, in any, params map[string]any) (out any, s StepTrace, err error) {
	if c.trace == nil || c.run == nil {
		out, err = c.Call(name, in, params)
		return out, s, err
	}
	before, n := c.run.steps, len(c.trace.Steps)
	out, err = c.Call(name, in, params)
	s.steps = c.run.steps - before
	if len(c.trace.Steps) > n {
		s.trace = c.trace.Steps[n]
	}
	return out, s, err
}

// Unmade takes calls out of what is recorded.
func (c *Ctx) Unmade(calls []StepTrace) {
	for _, s := range calls {
		if c.run != nil {
			c.run.steps -= s.steps
		}
		if s.trace != nil && c.trace != nil {
			c.trace.Steps = slices.DeleteFunc(c.trace.Steps, func(t *Trace) bool { return t == s.trace })
		}
	}
}

// step records the beginning of an operation; nil while nothing is recorded.
func (c *Ctx) step(d *Def, in any, params map[string]any, raw json.RawMessage) *Trace {
	if c.trace == nil || c.run == nil {
		return nil
	}
	r := c.run
	if r.steps++; r.steps > r.e.limits.TraceSteps {
		return nil
	}
	t := c.trace
	if r.top {
		r.top = false
	} else {
		t = r.newStep()
		t.Op, t.Start, t.Line, t.up = d.Name, time.Now(), c.line, c.trace
		c.trace.Steps = append(c.trace.Steps, t)
		c.trace = t
		if c.Tx != nil {
			t.noted = len(storage.Noted(c.Tx))
		}
	}
	if r.bare {
		return t
	}
	params = given(params, raw)
	r.hide(d, params)
	t.Input, t.Params, t.secret = r.summary(in), r.summaries(d, params), d.Secret
	t.warn(d, params)
	return t
}

// warn notes parameters that the operation does not have: they do nothing.
func (t *Trace) warn(d *Def, params map[string]any) {
	if d.Open {
		return
	}
	for _, name := range d.table.strangers(params) {
		if len(t.Warnings) == mostIgnored {
			return
		}
		t.Warnings = append(t.Warnings, d.table.unknown(name).Error())
	}
}

// evaluated records what a parameter of the step that runs is, in place of its expression.
func (c *Ctx) evaluated(d *Def, name string, v any) {
	if c.trace == nil || c.run == nil || c.run.bare || c.run.steps > c.run.e.limits.TraceSteps {
		return
	}
	r := c.run
	r.hide(d, map[string]any{name: v})
	if c.trace.Params == nil {
		c.trace.Params = map[string]string{}
	}
	if c.trace.Params[name] = concealed; !d.secret(r.set, name) {
		c.trace.Params[name] = r.summary(v)
	}
}

// end records how an operation ended, and returns err.
func (c *Ctx) end(t *Trace, out any, err error) error {
	if t == nil {
		return err
	}
	t.Duration = time.Since(t.Start)
	if t.up != nil && c.Tx != nil && !c.run.bare {
		if all := storage.Noted(c.Tx); len(all) > t.noted {
			t.Changes = slices.Clone(all[t.noted:min(len(all), t.noted+maxChanges)])
		}
	}
	if err != nil {
		t.Code = fault.Word(err)
	}
	switch {
	case c.run.bare:
	case err != nil:
		_, cause := root(err)
		t.Error = c.run.shown(cause.Error(), maxSummary)
	default:
		if t.Output = c.run.summary(out); t.secret && t.Output != "" {
			t.Output = concealed
		}
	}
	if t.up != nil {
		c.trace = t.up
	}
	return err
}

// Printed adds a line that a script printed to what is recorded.
func (c *Ctx) Printed(line string) {
	t := c.trace
	if t == nil || c.run == nil || c.run.bare || c.run.printed >= maxPrinted {
		return
	}
	line = c.run.shown(line, maxSummary)
	c.run.printed += len(line)
	t.Console = append(t.Console, line)
}

// summaries describes the parameters without their secrets.
func (r *running) summaries(d *Def, params map[string]any) map[string]string {
	if len(params) == 0 {
		return nil
	}
	out := make(map[string]string, len(params))
	for name, v := range params {
		if d.secret(r.set, name) {
			out[name] = concealed
		} else {
			out[name] = r.summary(v)
		}
	}
	return out
}

// summary describes a value in a few bytes, without secrets.
func (r *running) summary(v any) string {
	return r.shown(summary(r.set.redacted(v, 0)), maxSummary)
}

// summary describes a value.
func summary(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case Value:
		return summary(v.V)
	case *storage.Doc:
		return v.Type().Name + " " + v.Path()
	case storage.Docs:
		return countOf(len(v), "documents")
	case *storage.Page:
		return countOf(len(v.Docs), "documents")
	case *storage.Blob:
		return "blob " + v.Name
	case storage.Blobs:
		return countOf(len(v), "blobs")
	case *search.Rows:
		return countOf(len(v.Entries), "rows")
	case *storage.EntryPage:
		return countOf(len(v.Entries), "log entries")
	}
	if s, ok := asText(v); ok {
		return s
	}
	switch v.(type) {
	case map[string]any, storage.Props, []any, []string, storage.Refs:
		if raw, err := json.Marshal(plainValue(v, 0)); err == nil {
			return string(raw)
		}
	}
	return wordOf(v)
}

// appendJSON appends the trace as encoding/json writes it. Every call that is recorded has one: without reflection it takes a
// fifth of the time.
func (t *Trace) appendJSON(b []byte) ([]byte, error) {
	b = append(b, '{')
	if t.ID != "" {
		b = append(appendText(append(b, `"id":`...), t.ID), ',')
	}
	b = appendText(append(b, `"op":`...), t.Op)
	text := func(name, value string) {
		if value != "" {
			b = appendText(append(b, name...), value)
		}
	}
	text(`,"input":`, t.Input)
	text(`,"output":`, t.Output)
	text(`,"error":`, t.Error)
	if len(t.Params) > 0 {
		b = append(b, `,"params":{`...)
		for i, name := range slices.Sorted(maps.Keys(t.Params)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(append(appendText(b, name), ':'), t.Params[name])
		}
		b = append(b, '}')
	}
	b = append(b, `,"start":"`...)
	b, err := t.Start.AppendText(b)
	if err != nil {
		return nil, err
	}
	b = strconv.AppendInt(append(b, `","duration":`...), int64(t.Duration), 10)
	if t.Line != 0 {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(t.Line), 10)
	}
	text(`,"user":`, t.User)
	text(`,"requestId":`, t.Request)
	if b, err = t.appendRare(b); err != nil {
		return nil, err
	}
	for i, s := range t.Steps {
		if i == 0 {
			b = append(b, `,"steps":[`...)
		} else {
			b = append(b, ',')
		}
		if b, err = s.appendJSON(b); err != nil {
			return nil, err
		}
	}
	if len(t.Steps) > 0 {
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

// appendRare appends what few traces have.
func (t *Trace) appendRare(b []byte) ([]byte, error) {
	for _, rare := range []struct {
		name  string
		any   bool
		value any
	}{{"console", len(t.Console) > 0, t.Console}, {"warnings", len(t.Warnings) > 0, t.Warnings}, {"changes", len(t.Changes) > 0, t.Changes}} {
		if !rare.any {
			continue
		}
		raw, err := json.Marshal(rare.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(append(b, `,"`...), rare.name...), `":`...), raw...)
	}
	return b, nil
}

// appendText appends a text as encoding/json writes it.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0x7f {
			raw, _ := json.Marshal(s) // a text always can be written
			return append(b, raw...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

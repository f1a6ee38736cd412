package engine

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"catena/storage"
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
	Steps    []*Trace          `json:"steps,omitempty"`

	owner storage.Owned
	up    *Trace
}

const maxSummary = 256

// newTraceID returns a random W3C trace id.
func newTraceID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// newTrace returns the trace of a call that began then, without anything in it.
func (r *running) newTrace(began time.Time) *Trace {
	return &Trace{
		ID: cmp.Or(r.call.TraceID, newTraceID()), Op: r.def.Name, Start: began,
		User: r.call.As.Name, owner: storage.OwnedBy(r.call.As), Request: r.call.RequestID,
	}
}

// IsOf reports whether it is the trace of a call of somebody's, and not of one who had the name before.
func (t *Trace) IsOf(p *Principal) bool { return t.owner.Is(p) }

// beginTrace starts recording if the call, or the engine, is to be recorded.
func (r *running) beginTrace() {
	if !r.call.Trace && !r.e.traces.Recording() {
		return
	}
	r.root = r.newTrace(time.Now())
	r.ctx.trace = r.root
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
		t = &Trace{Op: d.Name, Start: time.Now(), Line: c.line, up: c.trace}
		c.trace.Steps = append(c.trace.Steps, t)
		c.trace = t
	}
	t.Input, t.Params = summary(in), d.summaries(params, raw)
	return t
}

// end records how an operation ended, and returns err.
func (c *Ctx) end(t *Trace, out any, err error) error {
	if t == nil {
		return err
	}
	t.Duration = time.Since(t.Start)
	if err != nil {
		_, cause := root(err)
		t.Error = cut(cause.Error(), maxSummary)
	} else {
		t.Output = summary(redacted(out, 0))
	}
	if t.up != nil {
		c.trace = t.up
	}
	return err
}

// summaries describes the parameters without their secrets.
func (d *Def) summaries(params map[string]any, raw json.RawMessage) map[string]string {
	if params == nil && raw != nil {
		if v, err := parseAny(raw); err == nil {
			params, _ = v.(map[string]any)
		}
	}
	if len(params) == 0 {
		return nil
	}
	out := make(map[string]string, len(params))
	for name, v := range params {
		if secret(name) {
			out[name] = "***"
		} else {
			out[name] = summary(redacted(v, 0))
		}
	}
	return out
}

var secrets = []string{"password", "passwd", "secret", "token", "key", "credential", "authorization"}

// secret reports whether a name is that of something not to be shown.
func secret(name string) bool {
	name = strings.ToLower(name)
	for _, s := range secrets {
		if strings.Contains(name, s) && name != "changetoken" {
			return true
		}
	}
	return false
}

// redacted copies objects without the secrets in them.
func redacted(v any, depth int) any {
	var m map[string]any
	switch v := v.(type) {
	case map[string]any:
		m = v
	case storage.Props:
		m = v
	case []any:
		if depth > 8 {
			return "…"
		}
		out := make([]any, min(len(v), 32))
		for i := range out {
			out[i] = redacted(v[i], depth+1)
		}
		return out
	default:
		return v
	}
	if depth > 8 {
		return "…"
	}
	out := make(map[string]any, len(m))
	for name, item := range m {
		if secret(name) {
			out[name] = "***"
		} else {
			out[name] = redacted(item, depth+1)
		}
	}
	return out
}

// summary describes a value in a few bytes.
func summary(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return cut(v, maxSummary)
	case Value:
		return summary(v.V)
	case *storage.Doc:
		return cut(v.Type().Name+" "+v.Path(), maxSummary)
	case storage.Docs:
		return countOf(len(v), "documents")
	case *storage.Page:
		return countOf(len(v.Docs), "documents")
	case *storage.Blob:
		return cut("blob "+v.Name, maxSummary)
	case storage.Blobs:
		return countOf(len(v), "blobs")
	case *storage.Rows:
		return countOf(len(v.Entries), "rows")
	case *storage.EntryPage:
		return countOf(len(v.Entries), "log entries")
	}
	if s, ok := asText(v); ok {
		return cut(s, maxSummary)
	}
	switch v.(type) {
	case map[string]any, storage.Props, []any, []string, storage.Refs:
		if raw, err := json.Marshal(plainValue(v, 0)); err == nil {
			return cut(string(raw), maxSummary)
		}
	}
	return wordOf(v)
}

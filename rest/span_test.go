package rest_test

import (
	"log/slog"
	"strings"
	"testing"

	"catena/engine"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage/trace"
)

// causes are the traces that calls of an operation belonged to, in turn.
type causes chan trace.Trace

func (c causes) spans(caused trace.Trace, s *engine.Span) (trace.Trace, func(*engine.Span)) {
	own := caused
	own.Span = strings.Repeat("e", 16)
	return own, func(ended *engine.Span) {
		if ended.Op == "Repository.GetDocument" && ended.Request == s.Request {
			c <- caused
		}
	}
}

// TestSpansOfRequests has calls belong to the trace that the log of requests names: that of the header, or else one of the
// request's own, also of a call in the background, which goes on after the answer.
func TestSpansOfRequests(t *testing.T) {
	log, caused := make(lines, 1), make(causes, 1)
	s := resttest.Start(t, resttest.Config{Single: true, Rest: func(c *rest.Config) { c.Access = slog.New(slog.NewJSONHandler(log, nil)) }})
	const operation = "/nuxeo/api/v1/automation/Repository.GetDocument"
	ask := func(path string, header ...string) (logTrace string, of trace.Trace) {
		t.Helper()
		a := s.Do("POST", path, `{"params":{"value":"/"}}`, append([]string{"as", "Administrator"}, header...)...)
		if a.StatusCode >= 300 {
			t.Fatalf("%s: %s", a.Status, a.Text)
		}
		_, line := logged(t, log)
		logTrace, _ = line["traceId"].(string)
		if logTrace == "" { // nobody is told yet
			return logTrace, of
		}
		return logTrace, <-caused
	}
	if logTrace, _ := ask(operation); logTrace != "" {
		t.Errorf("a request without the header belongs to trace %s although nobody is told", logTrace)
	}
	s.Engine.SetSpans(caused.spans)
	seen := map[string]bool{}
	for _, path := range []string{operation, operation, operation + "/@async"} {
		logTrace, of := ask(path)
		if len(logTrace) != 32 || of != (trace.Trace{ID: logTrace}) || seen[logTrace] {
			t.Errorf("%s: the log says %q, the call belongs to %v", path, logTrace, of)
		}
		seen[logTrace] = true
	}
	id, span := strings.Repeat("a", 32), strings.Repeat("b", 16)
	for _, path := range []string{operation, operation + "/@async"} {
		for flags, sampled := range map[string]bool{"00": false, "01": true} {
			logTrace, of := ask(path, "Traceparent", "00-"+id+"-"+span+"-"+flags)
			if logTrace != id || of != (trace.Trace{ID: id, Span: span, Sampled: sampled}) {
				t.Errorf("%s %s: the log says %q, the call belongs to %v", path, flags, logTrace, of)
			}
		}
	}
	if logTrace, of := ask(operation, "Traceparent", "00-nonsense"); len(logTrace) != 32 || of.ID != logTrace || of.Span != "" {
		t.Errorf("a header that is none: the log says %q, the call belongs to %v", logTrace, of)
	}
}

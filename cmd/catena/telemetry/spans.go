package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"catena/engine"
	"catena/storage/fault"
	"catena/storage/trace"
)

// spans makes the spans of calls. The span of a call begins with it, because what the call sends to others names it; those
// of its operations are made at its end, from the record of the engine.
type spans struct {
	tracer oteltrace.Tracer
	users  bool // are named
}

// begin begins the span of a call. One that is not sampled has identifiers only.
func (s spans) begin(caused trace.Trace, call *engine.Span) (trace.Trace, func(*engine.Span)) {
	ctx := context.WithValue(context.Background(), causedKey{}, caused)
	if parent := remote(caused); parent.IsValid() {
		ctx = oteltrace.ContextWithRemoteSpanContext(ctx, parent)
	}
	ctx, span := s.tracer.Start(ctx, call.Op, oteltrace.WithTimestamp(call.Start), oteltrace.WithSpanKind(kindOf(call.EntryPoint)))
	is := span.SpanContext()
	if !is.IsValid() { // after the end of telemetry
		if caused.ID == "" {
			caused = trace.New()
		}
		return caused, nil
	}
	own := trace.Trace{ID: is.TraceID().String(), Sampled: is.IsSampled(), Span: is.SpanID().String()}
	if !span.IsRecording() {
		return own, nil
	}
	return own, func(call *engine.Span) { s.end(ctx, span, call) }
}

// kindOf tells apart the calls that somebody waits for, those of jobs, and the server's own.
func kindOf(e engine.EntryPoint) oteltrace.SpanKind {
	switch e {
	case engine.REST, engine.MCP, engine.CLI:
		return oteltrace.SpanKindServer
	case engine.Listener:
		return oteltrace.SpanKindConsumer
	}
	return oteltrace.SpanKindInternal
}

// maxSteps bounds the spans of the operations of one call, which must not take the whole queue.
const maxSteps = 500

// end ends the span of a call and makes those of its operations: parents before children, so that what is left out is
// deepest in the tree. No attribute has a parameter, a result or the text of an error: they are for those who may read them.
func (s spans) end(ctx context.Context, span oteltrace.Span, call *engine.Span) {
	type level struct {
		ctx   context.Context //nolint:containedctx // names the parent
		ends  time.Time
		steps []*engine.Trace
	}
	made, omitted := 0, 0
	for todo := []level{{ctx, call.End, call.Steps}}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		for _, step := range at.steps {
			if made++; made > maxSteps {
				omitted += sizeOf(step)
				continue
			}
			ends := at.ends
			if d := step.Duration; d > 0 && step.Start.Add(d).Before(ends) { // one that did not end has no duration
				ends = step.Start.Add(d)
			}
			inner, child := s.tracer.Start(at.ctx, step.Op, oteltrace.WithTimestamp(step.Start))
			if step.Line > 0 {
				child.SetAttributes(attribute.Int("catena.line", step.Line))
			}
			if step.Code != "" {
				child.SetAttributes(attribute.String("error.type", step.Code))
			}
			child.End(oteltrace.WithTimestamp(ends))
			if len(step.Steps) > 0 {
				todo = append(todo, level{inner, ends, step.Steps})
			}
		}
	}
	span.SetAttributes(s.attributes(call)...)
	if omitted > 0 {
		span.SetAttributes(attribute.Int("catena.steps_omitted", omitted))
	}
	if call.Err != nil {
		span.SetAttributes(attribute.String("error.type", fault.Word(call.Err)), attribute.String("catena.error_kind", fault.Of(call.Err).String()))
		// What a caller did wrong is no error of the server (semantic conventions for HTTP and RPC).
		if kind := fault.Of(call.Err); kind == fault.Internal || kind == fault.Unavailable {
			span.SetStatus(codes.Error, "")
		}
	}
	span.End(oteltrace.WithTimestamp(call.End))
}

// sizeOf is how many operations a step is, with those that it ran.
func sizeOf(step *engine.Trace) int {
	n := 1
	for _, s := range step.Steps {
		n += sizeOf(s)
	}
	return n
}

func (s spans) attributes(call *engine.Span) []attribute.KeyValue {
	out := []attribute.KeyValue{
		attribute.String("catena.operation", call.Op),
		attribute.String("catena.entry_point", call.EntryPoint.String()),
		attribute.String("catena.repository", call.Repository),
		attribute.Int("catena.attempts", call.Attempts),
	}
	if call.Request != "" {
		out = append(out, attribute.String("catena.request_id", call.Request))
	}
	if s.users && call.User != "" {
		out = append(out, attribute.String("user.name", call.User))
	}
	return out
}

// remote is the span that causes a call; invalid if the call begins its trace.
func remote(t trace.Trace) oteltrace.SpanContext {
	c := oteltrace.SpanContextConfig{Remote: true}
	c.TraceID, _ = oteltrace.TraceIDFromHex(t.ID)
	c.SpanID, _ = oteltrace.SpanIDFromHex(t.Span)
	if t.Sampled {
		c.TraceFlags = oteltrace.FlagsSampled
	}
	return oteltrace.NewSpanContext(c)
}

// causedKey finds in a context the trace that a call belongs to.
type causedKey struct{}

// identifiers makes the identifiers of spans. The calls of one request share a trace although no span causes them.
type identifiers struct{}

var _ sdktrace.IDGenerator = identifiers{}

// NewIDs returns those of the first span of a trace.
func (identifiers) NewIDs(ctx context.Context) (t oteltrace.TraceID, s oteltrace.SpanID) {
	caused, _ := ctx.Value(causedKey{}).(trace.Trace)
	if raw, err := hex.DecodeString(caused.ID); err != nil || copy(t[:], raw) != len(t) {
		_, _ = rand.Read(t[:]) // never fails
	}
	return t, newSpanID()
}

// NewSpanID returns that of another span.
func (identifiers) NewSpanID(context.Context, oteltrace.TraceID) oteltrace.SpanID { return newSpanID() }

// newSpanID makes one that is not zero, which would be none.
func newSpanID() (s oteltrace.SpanID) {
	for !s.IsValid() {
		_, _ = rand.Read(s[:])
	}
	return s
}

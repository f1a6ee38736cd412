package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"

	"catena/cmd/catena/telemetry/otlptest"
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/trace"
)

// buffer is a log that several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// started sends to a collector until the test ends. Batches go out as soon as they can.
func started(t *testing.T, at string, from prometheus.Gatherer, flags ...string) (*Telemetry, *buffer) {
	t.Helper()
	log := &buffer{}
	s := settingsOf(t, append([]string{"--otel-exporter-otlp-endpoint=" + at, "--otel-bsp-schedule-delay=5"}, flags...)...)
	if from == nil {
		from = prometheus.NewRegistry()
	}
	tel := New(s, slog.New(slog.NewTextHandler(log, nil)), from)
	tel.retry = retry{time.Millisecond, 10 * time.Millisecond, time.Minute}
	if err := tel.Start(t.Context(), Server{Version: "v1", Node: "n1"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tel.Close(context.Background()) })
	return tel, log
}

var began = time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)

// call has a call begin and end, a second later.
func call(tel *Telemetry, caused trace.Trace, s engine.Span) trace.Trace {
	s.Start, s.End = began, began.Add(time.Second)
	own, end := tel.Spans()(caused, &s)
	if end != nil {
		end(&s)
	}
	return own
}

// step is an operation of a call that began after some milliseconds, and took some; -1: it did not end.
func step(op string, after, took int, steps ...*engine.Trace) *engine.Trace {
	s := &engine.Trace{Op: op, Start: began.Add(time.Duration(after) * time.Millisecond), Steps: steps}
	if took >= 0 {
		s.Duration = time.Duration(took) * time.Millisecond
	}
	return s
}

// TestSpan reads what a collector gets of a call: the tree of its operations with parents, times and attributes.
func TestSpan(t *testing.T) {
	c := otlptest.Start(t)
	tel, _ := started(t, c.URL, nil, "--otel-metrics-exporter=none", "--otel-service-name=shop", "--otel-resource-attributes=team=a%20b", "--trace-users")
	inner := step("Document.Lock", 200, 100)
	inner.Code, inner.Error, inner.Params = "locked", "by bob's secret", map[string]string{"password": "s3cret"}
	caused := trace.Trace{ID: strings.Repeat("a", 32), Span: strings.Repeat("b", 16), Sampled: true}
	outer := step("My.Chain", 100, 300, inner, step("Document.Save", 350, -1))
	outer.Line = 7
	own := call(tel, caused, engine.Span{
		Op: "Document.Update", Repository: "default", EntryPoint: engine.REST, User: "ann", Request: "r-1", Attempts: 2,
		Err: fault.Unavailable.Errorf("disk full at /s3cret").WithCode(fault.CodeUnreachable), Steps: []*engine.Trace{outer, step("Late", 900, 5000)},
	})
	root := c.Named("Document.Update")
	id, span, parent := root.IDs()
	if id != caused.ID || parent != caused.Span || own != (trace.Trace{ID: id, Span: span, Sampled: true}) {
		t.Errorf("trace %s, span %s, parent %s; passed on %v", id, span, parent, own)
	}
	if root.Kind != otlptrace.Span_SPAN_KIND_SERVER || root.Status.Code != otlptrace.Status_STATUS_CODE_ERROR || root.Status.Message != "" {
		t.Errorf("kind %v, status %v", root.Kind, root.Status)
	}
	wantMap(t, "attributes", root.Attributes, map[string]string{
		"catena.operation": "Document.Update", "catena.entry_point": "rest", "catena.repository": "default", "catena.attempts": "2", "catena.request_id": "r-1",
		"user.name": "ann", "error.type": "unreachable", "catena.error_kind": "unavailable",
	})
	for name, want := range map[string]string{"service.name": "shop", "service.instance.id": "n1", "service.version": "v1", "team": "a b", "telemetry.sdk.language": "go"} {
		if root.Resource[name] != want {
			t.Errorf("resource %v, want %s=%s", root.Resource, name, want)
		}
	}
	const ms = time.Millisecond
	for _, test := range []struct {
		name, parent string
		from, took   time.Duration
		attributes   map[string]string
	}{
		{"Document.Update", "", 0, time.Second, nil},
		{"My.Chain", "Document.Update", 100 * ms, 300 * ms, map[string]string{"catena.line": "7"}},
		{"Document.Lock", "My.Chain", 200 * ms, 100 * ms, map[string]string{"error.type": "locked"}},
		{"Document.Save", "My.Chain", 350 * ms, 50 * ms, map[string]string{}},
		{"Late", "Document.Update", 900 * ms, 100 * ms, map[string]string{}},
	} {
		s := c.Named(test.name)
		if _, _, of := s.IDs(); test.parent != "" {
			if _, is, _ := c.Named(test.parent).IDs(); of != is {
				t.Errorf("%s: parent %s, want %s", test.name, of, test.parent)
			}
			wantMap(t, test.name, s.Attributes, test.attributes)
			if s.Kind != otlptrace.Span_SPAN_KIND_INTERNAL {
				t.Errorf("%s: kind %v", test.name, s.Kind)
			}
		}
		if from := time.Unix(0, int64(s.StartTimeUnixNano)).Sub(began); from != test.from || s.Took() != test.took {
			t.Errorf("%s: after %v for %v, want %v and %v", test.name, from, s.Took(), test.from, test.took)
		}
	}
	if all := fmt.Sprint(c.Spans()); strings.Contains(all, "s3cret") || strings.Contains(all, "bob") {
		t.Errorf("what is private was sent: %s", all)
	}
}

func wantMap(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestKinds says what calls are to their callers, which errors are the server's, and that nobody is named.
func TestKinds(t *testing.T) {
	c := otlptest.Start(t)
	tel, _ := started(t, c.URL, nil, "--otel-metrics-exporter=none")
	for i, test := range []struct {
		from   engine.EntryPoint
		err    error
		kind   otlptrace.Span_SpanKind
		status otlptrace.Status_StatusCode
	}{
		{engine.REST, nil, otlptrace.Span_SPAN_KIND_SERVER, otlptrace.Status_STATUS_CODE_UNSET},
		{engine.MCP, fault.Internal.Errorf("x"), otlptrace.Span_SPAN_KIND_SERVER, otlptrace.Status_STATUS_CODE_ERROR},
		{engine.CLI, errors.New("x"), otlptrace.Span_SPAN_KIND_SERVER, otlptrace.Status_STATUS_CODE_ERROR},
		{engine.REST, fault.NotFound.Errorf("x"), otlptrace.Span_SPAN_KIND_SERVER, otlptrace.Status_STATUS_CODE_UNSET},
		{engine.REST, fault.Denied.Errorf("x"), otlptrace.Span_SPAN_KIND_SERVER, otlptrace.Status_STATUS_CODE_UNSET},
		{engine.Listener, nil, otlptrace.Span_SPAN_KIND_CONSUMER, otlptrace.Status_STATUS_CODE_UNSET},
		{engine.Server, nil, otlptrace.Span_SPAN_KIND_INTERNAL, otlptrace.Status_STATUS_CODE_UNSET},
		{0, nil, otlptrace.Span_SPAN_KIND_INTERNAL, otlptrace.Status_STATUS_CODE_UNSET},
	} {
		name := fmt.Sprint("Op", i)
		call(tel, trace.Trace{}, engine.Span{Op: name, EntryPoint: test.from, Err: test.err, User: "ann"})
		s := c.Named(name)
		if s.Kind != test.kind || s.Status.Code != test.status {
			t.Errorf("%v %v: kind %v, status %v", test.from, test.err, s.Kind, s.Status)
		}
		if _, ok := s.Attributes["user.name"]; ok || (s.Attributes["error.type"] != "") != (test.err != nil) {
			t.Errorf("%v %v: attributes %v", test.from, test.err, s.Attributes)
		}
		if _, _, parent := s.IDs(); parent != "" {
			t.Errorf("%v: parent %s", test.from, parent)
		}
	}
}

// TestLargeCall bounds the spans of one call: those nearest to it are sent.
func TestLargeCall(t *testing.T) {
	c := otlptest.Start(t)
	tel, _ := started(t, c.URL, nil, "--otel-metrics-exporter=none")
	var steps []*engine.Trace
	for range 100 {
		steps = append(steps, step("outer", 0, 1, step("inner", 0, 1), step("inner", 0, 1), step("inner", 0, 1), step("inner", 0, 1), step("inner", 0, 1, step("deep", 0, 1))))
	}
	call(tel, trace.Trace{}, engine.Span{Op: "Large", Steps: steps})
	if got := c.Named("Large").Attributes["catena.steps_omitted"]; got != "200" {
		t.Errorf("omitted %s of 700", got)
	}
	tel.Close(t.Context())
	counted := map[string]int{}
	for _, s := range c.Spans() {
		counted[s.Name]++
	}
	if counted["outer"] != 100 || counted["inner"] != 400 || counted["deep"] != 0 || counted["Large"] != 1 {
		t.Errorf("sent %v", counted)
	}
}

// TestProperty has many calls from many goroutines, of which some are traced: each gives one span of its own or none, with
// one for each operation, as the traceparent that it passed on says.
func TestProperty(t *testing.T) {
	c := otlptest.Start(t)
	tel, _ := started(t, c.URL, nil, "--otel-metrics-exporter=none", "--otel-traces-sampler=parentbased_traceidratio", "--otel-traces-sampler-arg=0.5", "--otel-bsp-max-queue-size=100000")
	type made struct {
		own    trace.Trace
		caused trace.Trace
		steps  int
	}
	var mu sync.Mutex
	calls := map[string]made{}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			random := mathrand.New(mathrand.NewPCG(uint64(g), 1))
			for i := range 200 {
				var m made
				switch random.IntN(3) {
				case 0:
					m.caused = trace.Trace{ID: trace.New().ID, Span: fmt.Sprintf("%016x", random.Uint64()|1), Sampled: random.IntN(2) == 0}
				case 1:
					m.caused = trace.New() // of a request without the header
				}
				s := engine.Span{Op: fmt.Sprintf("Op.%d.%d", g, i)}
				for range random.IntN(4) {
					s.Steps = append(s.Steps, step(s.Op+".step", 1, 1))
				}
				m.steps = len(s.Steps)
				m.own = call(tel, m.caused, s)
				mu.Lock()
				calls[s.Op] = m
				mu.Unlock()
			}
		})
	}
	all.Wait()
	tel.Close(t.Context())
	got := map[string][]otlptest.Span{}
	for _, s := range c.Spans() {
		got[s.Name] = append(got[s.Name], s)
	}
	sampled := 0
	for op, m := range calls {
		spans, steps := got[op], got[op+".step"]
		if m.caused.ID != "" && m.own.ID != m.caused.ID || m.caused.Span != "" && m.own.Sampled != m.caused.Sampled {
			t.Errorf("%s: %v caused %v", op, m.caused, m.own)
		}
		if !m.own.Sampled {
			if len(spans)+len(steps) != 0 || m.own.Span == "" {
				t.Errorf("%s: %d spans although it is not traced, and passes on %v", op, len(spans)+len(steps), m.own)
			}
			continue
		}
		sampled++
		if len(spans) != 1 || len(steps) != m.steps {
			t.Errorf("%s: %d spans and %d of %d steps", op, len(spans), len(steps), m.steps)
			continue
		}
		if id, span, parent := spans[0].IDs(); id != m.own.ID || span != m.own.Span || parent != m.caused.Span {
			t.Errorf("%s: trace %s, span %s, parent %s, want %v and %v", op, id, span, parent, m.own, m.caused)
		}
		for _, s := range steps {
			if id, _, parent := s.IDs(); id != m.own.ID || parent != m.own.Span {
				t.Errorf("%s: a step of trace %s below %s", op, id, parent)
			}
		}
	}
	if sampled < len(calls)/4 || sampled > len(calls)*3/4 {
		t.Errorf("%d of %d calls are traced", sampled, len(calls))
	}
	if tel.sent.Load() != int64(len(c.Spans())) || tel.waiting.Load()+tel.dropped.Load()+tel.failed.Load() != 0 {
		t.Errorf("counted %d sent, %d waiting, %d dropped, %d failed", tel.sent.Load(), tel.waiting.Load(), tel.dropped.Load(), tel.failed.Load())
	}
}

// TestMetrics sends what a registry has: values, labels, buckets and units. A metric that cannot be read hides no other.
func TestMetrics(t *testing.T) {
	r := prometheus.NewRegistry()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "test_bytes_total", Help: "Bytes."}, []string{"kind"})
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "test_open", Help: "Open."})
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "test_time_seconds", Help: "Time.", Buckets: []float64{1, 2}})
	broken := prometheus.NewDesc("test_broken", "Broken.", nil, nil)
	r.MustRegister(counter, gauge, histogram, collected{broken, prometheus.NewInvalidMetric(broken, errors.New("no disk"))})
	counter.WithLabelValues("a").Add(3)
	counter.WithLabelValues("b").Add(4)
	gauge.Set(-2.5)
	for _, v := range []float64{.5, 1.5, 1.6, 9} {
		histogram.Observe(v)
	}
	c := otlptest.Start(t)
	_, log := started(t, c.URL, r, "--otel-traces-exporter=none", "--otel-metric-export-interval=5")
	otlptest.Wait(t, "metrics", func() bool { _, ok := c.Metric("test_time_seconds"); return ok })

	m, _ := c.Metric("test_bytes_total")
	sum := m.GetSum()
	if !sum.GetIsMonotonic() || m.Unit != "By" || m.Description != "Bytes." || m.Resource["service.instance.id"] != "n1" {
		t.Errorf("counter %v of %v", m, m.Resource)
	}
	got := map[string]float64{}
	for _, p := range sum.GetDataPoints() {
		got[p.Attributes[0].Value.GetStringValue()] = p.GetAsDouble()
		if p.StartTimeUnixNano == 0 || p.TimeUnixNano <= p.StartTimeUnixNano {
			t.Errorf("point %v", p)
		}
	}
	if len(got) != 2 || got["a"] != 3 || got["b"] != 4 {
		t.Errorf("counter has %v", got)
	}
	if m, _ := c.Metric("test_open"); m.GetGauge().GetDataPoints()[0].GetAsDouble() != -2.5 || m.Unit != "" {
		t.Errorf("gauge %v", m)
	}
	m, _ = c.Metric("test_time_seconds")
	if p := m.GetHistogram().GetDataPoints()[0]; fmt.Sprint(p.BucketCounts, p.ExplicitBounds, p.GetCount(), p.GetSum(), m.Unit) != "[1 2 1] [1 2] 4 12.6s" {
		t.Errorf("histogram %v", m)
	}
	if _, ok := c.Metric("test_broken"); ok || strings.Count(log.String(), "no disk") != 1 {
		t.Errorf("sent %t, log %s", ok, log)
	}
}

// collected is a collector of one metric.
type collected struct {
	desc   *prometheus.Desc
	metric prometheus.Metric
}

func (c collected) Describe(to chan<- *prometheus.Desc) { to <- c.desc }
func (c collected) Collect(to chan<- prometheus.Metric) { to <- c.metric }

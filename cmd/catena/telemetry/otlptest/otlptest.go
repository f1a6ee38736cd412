// Package otlptest is a collector for tests: it receives OTLP over HTTP on the loopback interface, decodes what
// it gets with the messages of the specification, and keeps it.
package otlptest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is one that was received.
type Span struct {
	*trace.Span
	Resource, Attributes map[string]string
}

// IDs returns the identifiers of the trace, the span and its parent, in hexadecimal digits.
func (s Span) IDs() (trace, span, parent string) {
	return fmt.Sprintf("%x", s.TraceId), fmt.Sprintf("%x", s.SpanId), fmt.Sprintf("%x", s.ParentSpanId)
}

// Took is how long the span took.
func (s Span) Took() time.Duration { return time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano) }

// Metric is one that was received.
type Metric struct {
	*metrics.Metric
	Resource map[string]string
}

// Request is one that came, whether it was taken or not.
type Request struct {
	Path   string
	Header http.Header
}

// Collector is a running collector.
type Collector struct {
	*httptest.Server
	// Answer is asked about each request, whose number counts from 1; nil: all are taken. What it returns is the status of the answer,
	// whose headers it may set; 200 takes the request. It is set before anything is sent.
	Answer func(n int, w http.ResponseWriter, r *http.Request) int

	t        testing.TB
	mu       sync.Mutex
	requests []Request
	spans    []Span
	metrics  map[string]Metric // the latest of each name
}

// New makes a collector that Start starts.
func New(t testing.TB) *Collector {
	c := &Collector{t: t, metrics: map[string]Metric{}}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(c.serve))
	return c
}

// Start runs a collector, which takes everything, until the test ends.
func Start(t testing.TB) *Collector {
	c := New(t)
	c.Start()
	t.Cleanup(c.Close)
	return c
}

func (c *Collector) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.requests = append(c.requests, Request{r.URL.Path, r.Header.Clone()})
	n := len(c.requests)
	c.mu.Unlock()
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender gave up; a server that ends does, and sends everything once more
	}
	body, err := read(r, sent)
	if err != nil {
		c.t.Errorf("request %d: %v", n, err)
	}
	if c.Answer != nil {
		if status := c.Answer(n, w, r); status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
	}
	if err := c.take(r.URL.Path, body); err != nil {
		c.t.Errorf("request %d to %s: %v", n, r.URL.Path, err)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// read returns the body as it was before it was compressed.
func read(r *http.Request, sent []byte) ([]byte, error) {
	if got := r.Header.Get("Content-Type"); r.Method != http.MethodPost || got != "application/x-protobuf" {
		return nil, fmt.Errorf("%s with content type %q", r.Method, got)
	}
	if r.Header.Get("Content-Encoding") != "gzip" {
		return sent, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func (c *Collector) take(path string, body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path == "/v1/metrics" {
		var m collectormetrics.ExportMetricsServiceRequest
		if err := proto.Unmarshal(body, &m); err != nil {
			return err
		}
		for _, of := range m.ResourceMetrics {
			for _, scope := range of.ScopeMetrics {
				for _, one := range scope.Metrics {
					c.metrics[one.Name] = Metric{one, values(of.Resource.Attributes)}
				}
			}
		}
		return nil
	}
	var m collectortrace.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &m); err != nil {
		return err
	}
	for _, of := range m.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			for _, one := range scope.Spans {
				c.spans = append(c.spans, Span{one, values(of.Resource.Attributes), values(one.Attributes)})
			}
		}
	}
	return nil
}

// values writes attributes as texts.
func values(all []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[a.Key] = fmt.Sprint(v.IntValue)
		default:
			out[a.Key] = fmt.Sprintf("%T", v)
		}
	}
	return out
}

// Requests returns those that came.
func (c *Collector) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

// Spans returns those that were taken.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Metric returns the latest of a name.
func (c *Collector) Metric(name string) (Metric, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.metrics[name]
	return m, ok
}

// Wait waits until something holds, for a minute.
func Wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// Find waits for a span that is wanted.
func (c *Collector) Find(what string, want func(Span) bool) (found Span) {
	c.t.Helper()
	Wait(c.t, what, func() bool {
		all := c.Spans()
		i := slices.IndexFunc(all, want)
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

// Named waits for a span of a name.
func (c *Collector) Named(name string) Span {
	c.t.Helper()
	return c.Find("span "+name, func(s Span) bool { return s.Name == name })
}

package telemetry

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/time/rate"
)

// counts are what has become of spans and exports of metrics. They are metrics themselves.
type counts struct {
	waiting                 atomic.Int64 // spans that are queued or being sent
	sent, dropped, failed   atomic.Int64 // spans
	exports, failingExports atomic.Int64 // of metrics
}

var (
	descSpans   = prometheus.NewDesc("catena_telemetry_spans_total", "Spans by what became of them: sent, dropped because too many waited, failed because the collector did not take them.", []string{"result"}, nil)
	descWaiting = prometheus.NewDesc("catena_telemetry_spans_waiting", "Spans that wait to be sent to the collector, or are being sent.", nil, nil)
	descExports = prometheus.NewDesc("catena_telemetry_metric_exports_total", "Exports of metrics to the collector by result: sent, failed.", []string{"result"}, nil)
)

// Describe lists the metrics.
func (c *counts) Describe(to chan<- *prometheus.Desc) {
	to <- descSpans
	to <- descWaiting
	to <- descExports
}

// Collect reads them.
func (c *counts) Collect(to chan<- prometheus.Metric) {
	for result, n := range map[string]*atomic.Int64{"sent": &c.sent, "dropped": &c.dropped, "failed": &c.failed} {
		to <- prometheus.MustNewConstMetric(descSpans, prometheus.CounterValue, float64(n.Load()), result)
	}
	to <- prometheus.MustNewConstMetric(descWaiting, prometheus.GaugeValue, float64(c.waiting.Load()))
	for result, n := range map[string]*atomic.Int64{"sent": &c.exports, "failed": &c.failingExports} {
		to <- prometheus.MustNewConstMetric(descExports, prometheus.CounterValue, float64(n.Load()), result)
	}
}

// queue bounds the spans that wait to be sent: it counts those within the processor of the library, whose own queue is
// as long, so that the library never drops one itself.
type queue struct {
	sdktrace.SpanProcessor
	*counts
	most    int64
	stopped atomic.Bool
	warn    *warner
}

// OnEnd queues a span, or drops it. It never waits.
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if q.stopped.Load() {
		q.dropped.Add(1)
		return
	}
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		q.dropped.Add(1)
		q.warn.say("spans are dropped: the collector is slow", slog.Int64("dropped", q.dropped.Load()))
		return
	}
	q.SpanProcessor.OnEnd(s)
}

// Shutdown sends what waits, as long as ctx permits. Spans that end from now on are dropped.
func (q *queue) Shutdown(ctx context.Context) error {
	q.stopped.Store(true)
	return q.SpanProcessor.Shutdown(ctx)
}

// spanExporter counts the spans that go out.
type spanExporter struct {
	sdktrace.SpanExporter
	*counts
	warn *warner
}

// ExportSpans sends spans. What cannot be sent is gone; the library has tried again by then.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	e.waiting.Add(-int64(len(spans)))
	if err == nil {
		e.sent.Add(int64(len(spans)))
		return nil
	}
	e.failed.Add(int64(len(spans)))
	e.warn.say("spans cannot be sent", slog.Int64("failed", e.failed.Load()), reason(err))
	return nil
}

// metricExporter counts the exports of metrics.
type metricExporter struct {
	sdkmetric.Exporter
	*counts
	warn *warner
}

// Export sends metrics, with their units.
func (e *metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	for i := range m.ScopeMetrics {
		for j := range m.ScopeMetrics[i].Metrics {
			one := &m.ScopeMetrics[i].Metrics[j]
			one.Unit = unitOf(one.Name)
		}
	}
	if err := e.Exporter.Export(ctx, m); err != nil {
		e.failingExports.Add(1)
		e.warn.say("metrics cannot be sent", slog.Int64("failed", e.failingExports.Load()), reason(err))
		return nil
	}
	e.exports.Add(1)
	return nil
}

// warner writes a line at most once a minute.
type warner struct {
	log *slog.Logger
	now rate.Sometimes
}

func newWarner(log *slog.Logger) *warner {
	return &warner{log: log, now: rate.Sometimes{First: 1, Interval: time.Minute}}
}

func (w *warner) say(what string, more ...slog.Attr) {
	w.now.Do(func() { w.log.LogAttrs(context.Background(), slog.LevelWarn, "telemetry: "+what, more...) })
}

// maxReason bounds what is logged of an error in bytes: a collector may answer anything.
const maxReason = 500

func reason(err error) slog.Attr {
	text := err.Error()
	return slog.String("error", text[:min(len(text), maxReason)])
}

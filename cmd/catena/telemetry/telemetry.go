// Package telemetry sends traces of calls and the metrics of the server to a collector, by OTLP over HTTP. Nothing is sent
// unless the operator names a collector. Sampling, batching, retries and the format are those of the SDK of OpenTelemetry;
// what is here chooses what is told (spans.go), bounds what waits (queue.go), and reads the settings.
//
// The collector is the operator's, wherever it is, so the rules for requests of operations (engine/egress) do not hold for
// it. A collector that is slow or gone costs calls nothing: no call waits for it, and what it does not take is counted
// and dropped.
package telemetry

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	prometheusbridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"catena/engine"
)

// Telemetry sends traces and metrics. It is a collector of metrics about itself.
type Telemetry struct {
	counts
	settings *Settings
	from     prometheus.Gatherer
	warn     *warner
	flush    time.Duration
	retry    retry

	traces  *sdktrace.TracerProvider // nil: none are sent
	metrics *sdkmetric.MeterProvider // nil: none are sent
	stop    []func(context.Context) error
}

// Server is what sends.
type Server struct {
	Version, Node string
}

// flushTime bounds how long an end waits for the collector to take what is left.
const flushTime = 5 * time.Second

// retry are the pauses after answers that say that the collector takes no more for now. A pause that the answer names
// counts if it is longer.
type retry struct{ first, longest, all time.Duration }

var retries = retry{time.Second, 30 * time.Second, time.Minute}

// New makes telemetry that is not started yet, of the metrics in from; nil if the settings say that nothing is sent.
func New(s *Settings, log *slog.Logger, from prometheus.Gatherer) *Telemetry {
	if !s.On() {
		return nil
	}
	return &Telemetry{settings: s, from: from, warn: newWarner(log), flush: flushTime, retry: retries}
}

// Start begins to send. Settings that Check refuses are an error.
func (t *Telemetry) Start(ctx context.Context, s Server) error {
	if err := t.settings.Check(); err != nil {
		return err
	}
	// The library reports to one function of the process what it cannot tell otherwise.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { t.warn.say("the library reports an error", reason(err)) }))
	about, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(t.settings.resource(s.Version, s.Node)...))
	if err != nil {
		return err
	}
	if t.settings.traces() != "" {
		err = t.startTraces(ctx, about)
	}
	if t.settings.metrics() != "" && err == nil {
		err = t.startMetrics(ctx, about)
	}
	if err != nil {
		t.Close(ctx)
	}
	return err
}

func (t *Telemetry) startTraces(ctx context.Context, about *resource.Resource) error {
	s := t.settings
	headers, _ := s.header() // checked before, like all that follows
	secured, _ := s.tls()
	sampler, _ := s.sampling()
	options := []otlptracehttp.Option{
		otlptracehttp.WithEndpointURL(s.traces()), otlptracehttp.WithHeaders(headers), otlptracehttp.WithTimeout(milliseconds(s.timeout)),
		otlptracehttp.WithEncoding(otlptracehttp.EncodingProtobuf), otlptracehttp.WithCompression(otlptracehttp.NoCompression),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: t.retry.first, MaxInterval: t.retry.longest, MaxElapsedTime: t.retry.all}),
	}
	if s.compression == "gzip" {
		options = append(options, otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	}
	if secured != nil {
		options = append(options, otlptracehttp.WithTLSClientConfig(secured))
	}
	out, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return err
	}
	batch := sdktrace.NewBatchSpanProcessor(&spanExporter{out, &t.counts, t.warn},
		sdktrace.WithMaxQueueSize(s.queue), sdktrace.WithMaxExportBatchSize(min(s.batch, s.queue)), sdktrace.WithBatchTimeout(milliseconds(s.batchDelay)))
	t.traces = sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithSampler(sampler), sdktrace.WithIDGenerator(identifiers{}),
		sdktrace.WithSpanProcessor(&queue{SpanProcessor: batch, counts: &t.counts, most: int64(s.queue), warn: t.warn}))
	t.stop = append(t.stop, t.traces.Shutdown, out.Shutdown)
	return nil
}

func (t *Telemetry) startMetrics(ctx context.Context, about *resource.Resource) error {
	s := t.settings
	headers, _ := s.header() // checked before
	secured, _ := s.tls()
	options := []otlpmetrichttp.Option{
		otlpmetrichttp.WithEndpointURL(s.metrics()), otlpmetrichttp.WithHeaders(headers), otlpmetrichttp.WithTimeout(milliseconds(s.timeout)),
		otlpmetrichttp.WithCompression(otlpmetrichttp.NoCompression),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: true, InitialInterval: t.retry.first, MaxInterval: t.retry.longest, MaxElapsedTime: t.retry.all}),
	}
	if s.compression == "gzip" {
		options = append(options, otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
	}
	if secured != nil {
		options = append(options, otlpmetrichttp.WithTLSClientConfig(secured))
	}
	out, err := otlpmetrichttp.New(ctx, options...)
	if err != nil {
		return err
	}
	reader := sdkmetric.NewPeriodicReader(&metricExporter{out, &t.counts, t.warn}, sdkmetric.WithInterval(milliseconds(s.interval)),
		sdkmetric.WithProducer(prometheusbridge.NewMetricProducer(prometheusbridge.WithGatherer(prometheus.GathererFunc(t.gather)))))
	t.metrics = sdkmetric.NewMeterProvider(sdkmetric.WithResource(about), sdkmetric.WithReader(reader))
	t.stop = append(t.stop, t.metrics.Shutdown, out.Shutdown)
	return nil
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// gather reads the metrics. One that cannot be read hides no other, as at /metrics.
func (t *Telemetry) gather() ([]*dto.MetricFamily, error) {
	all, err := t.from.Gather()
	if err != nil {
		t.warn.say("a metric cannot be read", reason(err))
	}
	return all, nil
}

// unitOf is the unit of a metric (UCUM), which its name says; "" for plain numbers.
func unitOf(name string) string {
	name = strings.TrimSuffix(name, "_total")
	switch {
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	case strings.HasSuffix(name, "_bytes"):
		return "By"
	}
	return ""
}

// Spans is told of calls; nil if no traces are sent.
func (t *Telemetry) Spans() engine.Spans {
	if t.traces == nil {
		return nil
	}
	return spans{t.traces.Tracer("catena"), t.settings.users}.begin
}

// Close sends what is left, for a bounded time, and ends. What the collector does not take by then is lost; that is no error
// of the server.
func (t *Telemetry) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.flush)
	defer cancel()
	var both sync.WaitGroup
	for i := 0; i < len(t.stop); i += 2 {
		both.Go(func() {
			if err := t.stop[i](ctx); err != nil {
				t.warn.say("not everything was sent before the end", slog.Int64("waiting", t.waiting.Load()), reason(err))
			}
			_ = t.stop[i+1](ctx) // breaks off a request that goes on
		})
	}
	both.Wait()
}

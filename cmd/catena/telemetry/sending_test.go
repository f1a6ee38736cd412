package telemetry

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"catena/cmd/catena/telemetry/otlptest"
	"catena/engine"
	"catena/storage/trace"
)

// TestRequests reads what is sent besides messages: headers, and that bodies are compressed.
func TestRequests(t *testing.T) {
	for _, compression := range []string{"none", "gzip"} {
		c := otlptest.Start(t)
		tel, _ := started(t, c.URL, nil, "--otel-exporter-otlp-compression="+compression, "--otel-exporter-otlp-headers=api-key=k%2C1,X-Tenant=a b", "--otel-metric-export-interval=5")
		call(tel, trace.Trace{}, engine.Span{Op: "Op"})
		c.Named("Op")
		paths := map[string]bool{}
		otlptest.Wait(t, "both signals", func() bool {
			for _, q := range c.Requests() {
				paths[q.Path] = true
			}
			return len(paths) == 2
		})
		if !paths["/v1/traces"] || !paths["/v1/metrics"] {
			t.Errorf("sent to %v", paths)
		}
		for _, q := range c.Requests() {
			encoding := strings.Replace(compression, "none", "", 1)
			if q.Header.Get("Api-Key") != "k,1" || q.Header.Get("X-Tenant") != "a b" || q.Header.Get("Content-Encoding") != encoding {
				t.Errorf("%s: %v", q.Path, q.Header)
			}
		}
	}
}

// TestRetry sends again what a collector does not take now, after as long as it says, and nothing that it never takes.
func TestRetry(t *testing.T) {
	c := otlptest.New(t)
	var asked []time.Time
	var mu sync.Mutex
	c.Answer = func(n int, w http.ResponseWriter, _ *http.Request) int {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, time.Now())
		switch n {
		case 1:
			w.Header().Set("Retry-After", "1")
			return http.StatusServiceUnavailable
		case 2:
			return http.StatusTooManyRequests
		case 4:
			return http.StatusBadRequest
		}
		return http.StatusOK
	}
	c.Start()
	defer c.Close()
	tel, log := started(t, c.URL, nil, "--otel-metrics-exporter=none")
	call(tel, trace.Trace{}, engine.Span{Op: "First"})
	c.Named("First")
	mu.Lock()
	if len(asked) != 3 || asked[1].Sub(asked[0]) < time.Second {
		t.Errorf("asked at %v", asked)
	}
	mu.Unlock()
	call(tel, trace.Trace{}, engine.Span{Op: "Refused"})
	otlptest.Wait(t, "a failure", func() bool { return tel.failed.Load() == 1 })
	call(tel, trace.Trace{}, engine.Span{Op: "Last"})
	c.Named("Last")
	if n := len(c.Requests()); n != 5 || len(c.Spans()) != 2 {
		t.Errorf("%d requests, %d spans", n, len(c.Spans()))
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "spans cannot be sent") || !strings.Contains(text, "400") {
		t.Errorf("log %s", text)
	}
}

// TestDeadCollector has calls go on while a collector never answers: what waits is bounded, the rest is counted, and one line
// is logged. The end does not wait for it either.
func TestDeadCollector(t *testing.T) {
	c := otlptest.New(t)
	hold := make(chan struct{})
	c.Answer = func(int, http.ResponseWriter, *http.Request) int { <-hold; return http.StatusOK }
	c.Start()
	defer c.Close()
	defer close(hold)
	tel, log := started(t, c.URL, nil, "--otel-bsp-max-queue-size=20", "--otel-bsp-max-export-batch-size=5")
	tel.flush = 10 * time.Millisecond
	for i := range 1000 {
		call(tel, trace.Trace{}, engine.Span{Op: "Op", Steps: []*engine.Trace{step(fmt.Sprint(i), 0, 1)}})
	}
	if waiting, dropped := tel.waiting.Load(), tel.dropped.Load(); waiting != 20 || dropped != 1980 {
		t.Errorf("%d spans wait, %d are dropped", waiting, dropped)
	}
	done := make(chan struct{})
	go func() { tel.Close(context.Background()); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the end waits for the collector")
	}
	caused := trace.Trace{ID: strings.Repeat("a", 32), Span: strings.Repeat("b", 16)}
	if own := call(tel, caused, engine.Span{Op: "After"}); own != caused {
		t.Errorf("a call after the end passes on %v", own)
	}
	if own := call(tel, trace.Trace{}, engine.Span{Op: "After"}); len(own.ID) != 32 || strings.Trim(own.ID, "0") == "" {
		t.Errorf("a call after the end has the trace %v", own)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "dropped") {
		t.Errorf("%d lines: %s", n, log)
	}
	r := prometheus.NewRegistry()
	r.MustRegister(tel)
	families, err := r.Gather()
	if err != nil || len(families) != 3 {
		t.Fatalf("%v %v", families, err)
	}
	if text := fmt.Sprint(families); !strings.Contains(text, "catena_telemetry_spans_total") || !strings.Contains(text, "1980") {
		t.Errorf("metrics %s", text)
	}
}

// TestNobodyListens counts what is lost while nothing listens at the address.
func TestNobodyListens(t *testing.T) {
	c := otlptest.Start(t)
	at := c.URL
	c.Close()
	tel, _ := started(t, at, nil, "--otel-metric-export-interval=5")
	call(tel, trace.Trace{}, engine.Span{Op: "Op"})
	otlptest.Wait(t, "failures", func() bool { return tel.failed.Load() == 1 && tel.failingExports.Load() > 0 })
	if tel.waiting.Load() != 0 {
		t.Errorf("%d wait", tel.waiting.Load())
	}
}

// TestFlush sends what waits for its batch at the end, and the metrics as they are then.
func TestFlush(t *testing.T) {
	r := prometheus.NewRegistry()
	calls := prometheus.NewCounter(prometheus.CounterOpts{Name: "test_calls_total", Help: "Calls."})
	r.MustRegister(calls)
	c := otlptest.Start(t)
	tel, _ := started(t, c.URL, r, "--otel-bsp-schedule-delay=3600000", "--otel-metric-export-interval=3600000")
	for range 10 {
		call(tel, trace.Trace{}, engine.Span{Op: "Op"})
		calls.Inc()
	}
	if len(c.Requests()) != 0 {
		t.Error("something was sent before its time")
	}
	tel.Close(t.Context())
	m, _ := c.Metric("test_calls_total")
	if len(c.Spans()) != 10 || m.GetSum().GetDataPoints()[0].GetAsDouble() != 10 {
		t.Errorf("%d spans, metric %v", len(c.Spans()), m)
	}
	tel.Close(t.Context()) // once more changes nothing
}

// TestTLS verifies a collector by the certificate that the operator names, and shows one of its own.
func TestTLS(t *testing.T) {
	c := otlptest.New(t)
	certificate, key, pool := clientCertificate(t)
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	c.StartTLS()
	defer c.Close()
	authority := writePEM(t, "CERTIFICATE", c.Certificate().Raw)
	tel, _ := started(t, c.URL, nil, "--otel-exporter-otlp-certificate="+authority, "--otel-exporter-otlp-client-certificate="+certificate, "--otel-exporter-otlp-client-key="+key, "--otel-metric-export-interval=5")
	call(tel, trace.Trace{}, engine.Span{Op: "Op"})
	c.Named("Op")
	otlptest.Wait(t, "metrics", func() bool {
		return slices.ContainsFunc(c.Requests(), func(q otlptest.Request) bool { return q.Path == "/v1/metrics" })
	})
	stranger, log := started(t, c.URL, nil, "--otel-metrics-exporter=none")
	call(stranger, trace.Trace{}, engine.Span{Op: "Other"})
	otlptest.Wait(t, "a line about the certificate", func() bool { return strings.Contains(log.String(), "certificate") })
	if n := stranger.failed.Load(); n != 1 {
		t.Errorf("%d failed", n)
	}
}

// clientCertificate makes a certificate that signs itself, and returns the names of its files.
func clientCertificate(t *testing.T) (certificate, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "catena"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(made)
	return writePEM(t, "CERTIFICATE", raw), writePEM(t, "EC PRIVATE KEY", secret), pool
}

func writePEM(t *testing.T, kind string, raw []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestOff makes nothing if nothing is to be sent, and nobody is told of calls if only metrics are.
func TestOff(t *testing.T) {
	if New(settingsOf(t), slog.New(slog.DiscardHandler), prometheus.NewRegistry()) != nil {
		t.Error("telemetry without a collector")
	}
	c := otlptest.Start(t)
	if tel, _ := started(t, c.URL, nil, "--otel-traces-exporter=none"); tel.Spans() != nil {
		t.Error("calls are told although no traces are sent")
	}
	wrong := New(settingsOf(t, "--otel-exporter-otlp-endpoint=x"), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err := wrong.Start(t.Context(), Server{}); err == nil {
		t.Error("wrong settings are taken")
	}
}

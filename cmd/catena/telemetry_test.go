package main

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"catena/cmd/catena/telemetry/otlptest"
	"catena/storage/postgres/pgtest"
)

// traced sends a request that belongs to a trace, which must be answered with a status.
func (p *process) traced(t *testing.T, parent, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", parent)
	req.Header.Set("X-Request-Id", "r-1")
	req.SetBasicAuth("Administrator", adminPassword)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text := whole(t, resp)
	if resp.StatusCode >= 300 {
		t.Fatalf("%s: status %d: %s", path, resp.StatusCode, text)
	}
	return resp
}

// TestTelemetry follows a trace from a client through a server to a second one and to a job: each call is a span below what
// caused it, with the server that it ran on. Both send their metrics, and what was not sent at the end is sent then.
func TestTelemetry(t *testing.T) {
	c := otlptest.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
	t.Setenv("OTEL_METRIC_EXPORT_INTERVAL", "50")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "") // counts as unset
	settings := inFile(t, "catena.yaml", "otel-service-name: shop\nlog-format: json\n")
	logs := filepath.Join(t.TempDir(), "access.log")
	b := startServer(t, t.TempDir(), "--config", settings, "--access-log", logs)
	a := startServer(t, t.TempDir(), "--config", settings, "--egress-allow", "127.0.0.1")
	a.want(t, 200, "Administrator", "POST", "/api/v1/automation/Listener.Save",
		`{"params":{"source":"name: Test.Later\nevents: [documentCreated]\nafterCommit: true\nrun: Document.SetProperty\nparams: {xpath: 'dc:description', value: later}\n"}}`)

	const client = "00f067aa0ba902b7"
	id := strings.Repeat("a", 32)
	ask := map[string]any{"params": map[string]any{
		"url": b.base + "/api/v1/automation/Repository.GetDocument", "method": "POST", "json": map[string]any{"params": map[string]any{"value": "/"}},
		"headers": map[string]any{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("Administrator:"+adminPassword))}, "answer": "text",
	}}
	body, err := json.Marshal(ask)
	if err != nil {
		t.Fatal(err)
	}
	a.traced(t, "00-"+id+"-"+client+"-01", "/api/v1/automation/Http.Request", string(body))
	a.traced(t, "00-"+id+"-"+client+"-01", "/api/v1/automation/Document.Create", `{"input":"/","params":{"type":"File","name":"secret-name"}}`)
	for _, p := range []*process{a, b} {
		for _, name := range []string{"catena_http_requests_total", "catena_transaction_seconds", "catena_telemetry_spans_total", "go_goroutines", "process_cpu_seconds_total"} {
			at := strings.TrimPrefix(p.base, "http://127.0.0.1")
			otlptest.Wait(t, name+" of "+at, func() bool {
				m, ok := c.Metric(name)
				return ok && strings.HasSuffix(m.Resource["service.instance.id"], at) && m.Resource["service.name"] == "shop"
			})
		}
	}
	child := func(op, parent string) otlptest.Span {
		return c.Find(op+" below "+parent, func(s otlptest.Span) bool {
			of, _, below := s.IDs()
			return s.Name == op && of == id && below == parent
		})
	}
	request := child("Http.Request", client)
	_, span, _ := request.IDs()
	answered := child("Repository.GetDocument", span)
	if on := request.Resource["service.instance.id"]; on == "" || on == answered.Resource["service.instance.id"] {
		t.Errorf("both calls ran on %q", on)
	}
	if request.Attributes["catena.request_id"] != "r-1" || request.Attributes["catena.entry_point"] != "rest" || request.Resource["service.name"] != "shop" {
		t.Errorf("attributes %v of %v", request.Attributes, request.Resource)
	}
	_, span, _ = child("Document.Create", client).IDs()
	if job := child("listener Test.Later", span); job.Attributes["catena.entry_point"] != "listener" {
		t.Errorf("job %v", job.Attributes)
	}
	logged, err := os.ReadFile(logs)
	if err != nil || !strings.Contains(string(logged), `"traceId":"`+id+`"`) {
		t.Errorf("%v: the log of the second server does not name the trace: %s", err, logged)
	}

	// The default is to wait for others for 5 seconds: what comes last is sent by the end of the server.
	other := strings.Repeat("b", 32)
	a.traced(t, "00-"+other+"-"+client+"-01", "/api/v1/automation/Repository.GetDocument", `{"params":{"value":"/secret-name"}}`)
	a.stop(t)
	b.stop(t)
	if !slices.ContainsFunc(c.Spans(), func(s otlptest.Span) bool { of, _, _ := s.IDs(); return of == other }) {
		t.Error("the last call was not sent at the end")
	}
	for _, s := range c.Spans() {
		if of, _, _ := s.IDs(); of != id && of != other {
			t.Errorf("span %s of a call that nobody traces", s.Name)
		}
		if text := s.String(); strings.Contains(text, "secret-name") || strings.Contains(text, "Administrator") {
			t.Errorf("span %s has what is private: %s", s.Name, text)
		}
	}
}

// TestTelemetryNodes has two servers on one database be told apart by the identifiers that "catena nodes" lists, and the calls
// of a request without a traceparent be one trace.
func TestTelemetryNodes(t *testing.T) {
	store, content := pgtest.Database(t), t.TempDir()
	c := otlptest.Start(t)
	flags := []string{"--store", store, "--blobs", content, "--otel-exporter-otlp-endpoint", c.URL, "--otel-metrics-exporter", "none", "--otel-bsp-schedule-delay", "10", "--trace-users"}
	on := map[string]bool{}
	for _, p := range []*process{startServer(t, t.TempDir(), flags...), startServer(t, t.TempDir(), flags...)} {
		p.want(t, 200, "Administrator", "POST", "/api/v1/automation/Repository.GetDocument", `{"params":{"value":"/"}}`)
		s := c.Find("a call on another server", func(s otlptest.Span) bool {
			return s.Name == "Repository.GetDocument" && !on[s.Resource["service.instance.id"]]
		})
		if s.Attributes["user.name"] != "Administrator" {
			t.Errorf("attributes %v", s.Attributes)
		}
		on[s.Resource["service.instance.id"]] = true
	}
	code, out, errs := line(t, "nodes", "--store", store, "--data", t.TempDir(), "--blobs", content, "--json")
	for id := range on {
		if code != 0 || !strings.Contains(out, `"`+id+`"`) {
			t.Errorf("node %s is not in %s%s", id, out, errs)
		}
	}
}

// TestTelemetrySettings has settings refused and printed like others: by the names of the specification, without secrets.
func TestTelemetrySettings(t *testing.T) {
	data := t.TempDir()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS_FILE", inFile(t, "headers", "api-key=s3cret\n"))
	file := inFile(t, "catena.yaml", "otel-traces-sampler: traceidratio\notel-traces-sampler-arg: 0.25\n")
	code, out, errs := line(t, "config", "print", "--data", data, "--config", file)
	for _, want := range []string{"otel-exporter-otlp-endpoint: http://127.0.0.1:4318 # text, from OTEL_EXPORTER_OTLP_ENDPOINT", "otel-traces-sampler-arg: 0.25 # text, from " + file + ":2", "otel-exporter-otlp-headers: '***'"} {
		if code != 0 || !strings.Contains(strings.ReplaceAll(out, `"`, ""), want) {
			t.Errorf("%d %s: no %s in\n%s", code, errs, want, out)
		}
	}
	if strings.Contains(out, "s3cret") {
		t.Error("a secret is printed")
	}
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	for _, command := range [][]string{{"config", "check"}, {"serve", "--addr", "127.0.0.1:0"}} {
		code, _, errs = line(t, append(command, "--data", data)...)
		if code != 2 || !strings.Contains(errs, `otel-exporter-otlp-protocol: "grpc" must be http/protobuf`) {
			t.Errorf("%v: %d %s", command, code, errs)
		}
	}
	t.Setenv("CATENA_OTEL_SDK_DISABLED", "true")
	if code, _, errs = line(t, "config", "check", "--data", data); code != 2 || !strings.Contains(errs, "CATENA_OTEL_SDK_DISABLED: is not a setting") {
		t.Errorf("%d %s", code, errs)
	}
}

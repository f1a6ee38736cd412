package telemetry

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// settingsOf are those of flags.
func settingsOf(t *testing.T, flags ...string) *Settings {
	t.Helper()
	s := &Settings{}
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.Flags(f)
	if err := f.Parse(flags); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAddresses says where each signal goes.
func TestAddresses(t *testing.T) {
	for _, test := range []struct {
		flags           string
		traces, metrics string
	}{
		{"", "", ""},
		{"--otel-exporter-otlp-endpoint=http://c:4318", "http://c:4318/v1/traces", "http://c:4318/v1/metrics"},
		{"--otel-exporter-otlp-endpoint=https://c/in/", "https://c/in/v1/traces", "https://c/in/v1/metrics"},
		{"--otel-exporter-otlp-endpoint=http://c --otel-traces-exporter=none", "", "http://c/v1/metrics"},
		{"--otel-exporter-otlp-endpoint=http://c --otel-metrics-exporter=none", "http://c/v1/traces", ""},
		{"--otel-exporter-otlp-endpoint=http://c --otel-exporter-otlp-traces-endpoint=http://d/x", "http://d/x", "http://c/v1/metrics"},
		{"--otel-exporter-otlp-metrics-endpoint=http://d", "", "http://d"},
		{"--otel-exporter-otlp-metrics-endpoint=http://d --otel-metrics-exporter=none", "", ""},
		{"--otel-exporter-otlp-endpoint=http://c --otel-sdk-disabled", "", ""},
	} {
		s := settingsOf(t, strings.Fields(test.flags)...)
		if s.traces() != test.traces || s.metrics() != test.metrics || s.On() != (test.traces+test.metrics != "") {
			t.Errorf("%s: traces %q, metrics %q, on %t", test.flags, s.traces(), s.metrics(), s.On())
		}
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", test.flags, err)
		}
	}
}

// TestCheck has every wrong setting named, without a secret in the message.
func TestCheck(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.pem")
	if err := os.WriteFile(text, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ flags, want string }{
		{"--otel-exporter-otlp-endpoint=collector:4318", "otel-exporter-otlp-endpoint: must be an address such as http://127.0.0.1:4318"},
		{"--otel-exporter-otlp-endpoint=grpc://c", "otel-exporter-otlp-endpoint: must be an address such as http://127.0.0.1:4318"},
		{"--otel-exporter-otlp-endpoint=http://", "otel-exporter-otlp-endpoint: must be an address such as http://127.0.0.1:4318"},
		{"--otel-exporter-otlp-endpoint=http://me:s3cret@c", "otel-exporter-otlp-endpoint: must not have a user, query or fragment; use otel-exporter-otlp-headers to sign in"},
		{"--otel-exporter-otlp-traces-endpoint=http://c/?key=s3cret", "otel-exporter-otlp-traces-endpoint: must not have a user, query or fragment; use otel-exporter-otlp-headers to sign in"},
		{"--otel-exporter-otlp-metrics-endpoint=c", "otel-exporter-otlp-metrics-endpoint: must be an address such as http://127.0.0.1:4318"},
		{"--otel-exporter-otlp-protocol=grpc", `otel-exporter-otlp-protocol: "grpc" must be http/protobuf`},
		{"--otel-exporter-otlp-protocol=", `otel-exporter-otlp-protocol: "" must be http/protobuf`},
		{"--otel-exporter-otlp-compression=zstd", `otel-exporter-otlp-compression: "zstd" must be none or gzip`},
		{"--otel-traces-exporter=console", `otel-traces-exporter: "console" must be otlp or none`},
		{"--otel-metrics-exporter=prometheus", `otel-metrics-exporter: "prometheus" must be otlp or none`},
		{"--otel-exporter-otlp-headers=s3cret", "otel-exporter-otlp-headers: item 1 must be name=value with a percent-encoded value"},
		{"--otel-exporter-otlp-headers=a=b,c=%zzs3cret", "otel-exporter-otlp-headers: item 2 must be name=value with a percent-encoded value"},
		{"--otel-exporter-otlp-headers=a=s3cret%0d%0ab:c", `otel-exporter-otlp-headers: "a" is not a header`},
		{"--otel-exporter-otlp-headers=a(b)=s3cret", `otel-exporter-otlp-headers: "a(b)" is not a header`},
		{"--otel-resource-attributes==x", "otel-resource-attributes: item 1 must be name=value with a percent-encoded value"},
		{"--otel-traces-sampler=jaeger_remote", `otel-traces-sampler: "jaeger_remote" must be always_on, always_off or traceidratio, or one of these after parentbased_`},
		{"--otel-traces-sampler=traceidratio --otel-traces-sampler-arg=2", `otel-traces-sampler-arg: "2" must be a number from 0 to 1`},
		{"--otel-traces-sampler=traceidratio --otel-traces-sampler-arg=NaN", `otel-traces-sampler-arg: "NaN" must be a number from 0 to 1`},
		{"--otel-traces-sampler=parentbased_traceidratio --otel-traces-sampler-arg=half", `otel-traces-sampler-arg: "half" must be a number from 0 to 1`},
		{"--otel-exporter-otlp-timeout=0", "otel-exporter-otlp-timeout: 0 must be between 1 and 86400000"},
		{"--otel-metric-export-interval=-1", "otel-metric-export-interval: -1 must be between 1 and 86400000"},
		{"--otel-bsp-max-queue-size=100000000", "otel-bsp-max-queue-size: 100000000 must be between 1 and 86400000"},
		{"--otel-bsp-schedule-delay=0", "otel-bsp-schedule-delay: 0 must be between 1 and 86400000"},
		{"--otel-bsp-max-export-batch-size=0", "otel-bsp-max-export-batch-size: 0 must be between 1 and 86400000"},
		{"--otel-exporter-otlp-certificate=" + text, "has no certificate in PEM format"},
		{"--otel-exporter-otlp-certificate=/nowhere.pem", "otel-exporter-otlp-certificate: "},
		{"--otel-exporter-otlp-client-key=/nowhere.pem", "otel-exporter-otlp-client-certificate and -key: "},
		{"--otel-exporter-otlp-endpoint=http://c --otel-exporter-otlp-certificate=" + text, "otel-exporter-otlp-endpoint: certificates require an https address"},
	} {
		flags := append([]string{"--otel-exporter-otlp-endpoint=https://collector"}, strings.Fields(test.flags)...)
		err := settingsOf(t, flags...).Check()
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want %s", test.flags, err, test.want)
		}
		if err := settingsOf(t, append(flags, "--otel-sdk-disabled")...).Check(); err != nil {
			t.Errorf("%s: is checked although nothing is sent: %v", test.flags, err)
		}
	}
	all := settingsOf(t, "--otel-exporter-otlp-endpoint=c", "--otel-traces-sampler=x", "--otel-exporter-otlp-timeout=0").Check()
	if all == nil || strings.Count(all.Error(), "\n") != 2 {
		t.Errorf("not everything is told at once: %v", all)
	}
}

// TestHeaders reads the lists of the specification.
func TestHeaders(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"":                                     {},
		"a=b":                                  {"a": "b"},
		" api-key = k%2C%3D , x = y=z , ":      {"api-key": "k,=", "x": "y=z"},
		"authorization=Bearer%20abc+d,a=1,a=2": {"authorization": "Bearer abc+d", "a": "2"},
		"empty=":                               {"empty": ""},
	} {
		got, err := settingsOf(t, "--otel-exporter-otlp-headers="+text).header()
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

// TestResource has the attributes of the operator win over those of the server, and the name over all.
func TestResource(t *testing.T) {
	for _, test := range []struct{ flags, want string }{
		{"", "service.instance.id=n1 service.name=catena service.version=v1"},
		{"--otel-service-name=shop", "service.instance.id=n1 service.name=shop service.version=v1"},
		{"--otel-resource-attributes=service.name=a,service.instance.id=x,team=b%20c", "service.instance.id=x service.name=a service.version=v1 team=b c"},
		{"--otel-resource-attributes=service.name=a --otel-service-name=b", "service.instance.id=n1 service.name=b service.version=v1"},
	} {
		last := map[string]string{}
		for _, a := range settingsOf(t, strings.Fields(test.flags)...).resource("v1", "n1") {
			last[string(a.Key)] = a.Value.AsString()
		}
		var got []string
		for _, name := range slices.Sorted(maps.Keys(last)) {
			got = append(got, name+"="+last[name])
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %s", test.flags, got, test.want)
		}
	}
}

// TestSamplers asks each sampler about many traces, which nobody, a caller that records, and one that does not have begun.
func TestSamplers(t *testing.T) {
	const all = 4000
	for _, test := range []struct {
		sampler, ratio string
		want           [3]float64 // share of those without a parent, with one that is recorded, and with one that is not
	}{
		{"always_on", "", [3]float64{1, 1, 1}},
		{"always_off", "", [3]float64{0, 0, 0}},
		{"traceidratio", "0.25", [3]float64{.25, .25, .25}},
		{"traceidratio", "", [3]float64{1, 1, 1}},
		{"parentbased_always_on", "", [3]float64{1, 1, 0}},
		{"parentbased_always_off", "", [3]float64{0, 1, 0}},
		{"parentbased_traceidratio", "0.1", [3]float64{.1, 1, 0}},
	} {
		sampler, err := settingsOf(t, "--otel-traces-sampler="+test.sampler, "--otel-traces-sampler-arg="+test.ratio).sampling()
		if err != nil {
			t.Fatal(err)
		}
		for kind, want := range test.want {
			sampled := 0
			for i := range all {
				// The library decides by the last bytes of the identifier; multiples of the golden ratio spread evenly.
				id, err := oteltrace.TraceIDFromHex(fmt.Sprintf("%016x%016x", 1, uint64(i+1)*0x9e3779b97f4a7c15))
				if err != nil {
					t.Fatal(err)
				}
				ctx := t.Context()
				if kind > 0 {
					parent := oteltrace.SpanContextConfig{TraceID: id, SpanID: oteltrace.SpanID{1}, Remote: true}
					if kind == 1 {
						parent.TraceFlags = oteltrace.FlagsSampled
					}
					ctx = oteltrace.ContextWithRemoteSpanContext(ctx, oteltrace.NewSpanContext(parent))
				}
				if sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: ctx, TraceID: id}).Decision == sdktrace.RecordAndSample {
					sampled++
				}
			}
			if got := float64(sampled) / all; math.Abs(got-want) > .01 {
				t.Errorf("%s %s, case %d: samples %v, want %v", test.sampler, test.ratio, kind, got, want)
			}
		}
	}
}

// TestUnits reads the units that names of metrics say.
func TestUnits(t *testing.T) {
	for name, want := range map[string]string{
		"catena_http_request_seconds": "s", "process_cpu_seconds_total": "s", "catena_disk_free_bytes": "By", "go_memstats_alloc_bytes_total": "By",
		"catena_jobs": "", "catena_http_requests_total": "", "seconds": "", "catena_bytes_x": "",
	} {
		if got := unitOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestIdentifiers are never zero and differ.
func TestIdentifiers(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		trace, span := identifiers{}.NewIDs(t.Context())
		other := identifiers{}.NewSpanID(t.Context(), trace)
		for _, id := range []string{hex.EncodeToString(trace[:]), hex.EncodeToString(span[:]), hex.EncodeToString(other[:])} {
			if seen[id] || strings.Trim(id, "0") == "" {
				t.Fatalf("identifier %s", id)
			}
			seen[id] = true
		}
	}
}

package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/net/http/httpguts"

	"catena/storage/fault"
)

// Settings are the variables of OpenTelemetry that catena honours. In the environment they have their standard names
// (OTEL_EXPORTER_OTLP_ENDPOINT for otel-exporter-otlp-endpoint).
type Settings struct {
	disabled                           bool
	endpoint, tracesAt, metricsAt      string
	protocol, headers, compression     string
	timeout                            int // ms
	authority, certificate, key        string
	sampler, ratio                     string
	tracesExporter, metricsExporter    string
	service, attributes                string
	interval, queue, batch, batchDelay int // ms: interval, batchDelay
	users                              bool
}

// HeadersFlag is the setting that has secrets.
const HeadersFlag = "otel-exporter-otlp-headers"

// Flags defines the settings.
func (s *Settings) Flags(f *pflag.FlagSet) {
	f.BoolVar(&s.disabled, "otel-sdk-disabled", false, "send no traces and metrics, whatever the other settings say")
	f.StringVar(&s.endpoint, "otel-exporter-otlp-endpoint", "", "address of a collector that receives traces and metrics by OTLP/HTTP, such as http://127.0.0.1:4318; without one, nothing is sent")
	f.StringVar(&s.tracesAt, "otel-exporter-otlp-traces-endpoint", "", "address that receives traces (default: /v1/traces below the endpoint)")
	f.StringVar(&s.metricsAt, "otel-exporter-otlp-metrics-endpoint", "", "address that receives metrics (default: /v1/metrics below the endpoint)")
	f.StringVar(&s.protocol, "otel-exporter-otlp-protocol", "http/protobuf", "protocol; http/protobuf is the only one")
	f.StringVar(&s.headers, HeadersFlag, "", "headers sent to the collector, name=value,name=value with percent-encoded values; prefer OTEL_EXPORTER_OTLP_HEADERS")
	f.IntVar(&s.timeout, "otel-exporter-otlp-timeout", 10_000, "time of one request to the collector, in milliseconds")
	f.StringVar(&s.compression, "otel-exporter-otlp-compression", "none", "compression of what is sent: none or gzip")
	f.StringVar(&s.authority, "otel-exporter-otlp-certificate", "", "file in PEM format with certificates that the collector's is verified with (default: those of the system)")
	f.StringVar(&s.certificate, "otel-exporter-otlp-client-certificate", "", "file in PEM format with the certificate that is shown to the collector")
	f.StringVar(&s.key, "otel-exporter-otlp-client-key", "", "file in PEM format with the key of that certificate")
	f.StringVar(&s.tracesExporter, "otel-traces-exporter", "otlp", "otlp sends traces, none does not")
	f.StringVar(&s.metricsExporter, "otel-metrics-exporter", "otlp", "otlp sends metrics, none does not")
	f.StringVar(&s.sampler, "otel-traces-sampler", "parentbased_always_on", "which calls are traced: always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or parentbased_traceidratio")
	f.StringVar(&s.ratio, "otel-traces-sampler-arg", "", "share of calls that traceidratio traces, from 0 to 1 (default 1)")
	f.StringVar(&s.service, "otel-service-name", "", "name of the service in traces and metrics (default catena)")
	f.StringVar(&s.attributes, "otel-resource-attributes", "", "attributes of the server in traces and metrics, name=value,name=value with percent-encoded values")
	f.IntVar(&s.interval, "otel-metric-export-interval", 60_000, "time between two exports of metrics, in milliseconds")
	f.IntVar(&s.queue, "otel-bsp-max-queue-size", 2048, "spans that wait to be sent; others are dropped")
	f.IntVar(&s.batch, "otel-bsp-max-export-batch-size", 512, "spans in one request")
	f.IntVar(&s.batchDelay, "otel-bsp-schedule-delay", 5000, "longest time that a span waits for others, in milliseconds")
	f.BoolVar(&s.users, "trace-users", false, "name users in traces")
}

// On reports whether anything is sent.
func (s *Settings) On() bool { return s.traces() != "" || s.metrics() != "" }

// traces is the address that receives traces, "" if none are sent.
func (s *Settings) traces() string { return s.address(s.tracesExporter, s.tracesAt, "/v1/traces") }

// metrics is the address that receives metrics, "" if none are sent.
func (s *Settings) metrics() string { return s.address(s.metricsExporter, s.metricsAt, "/v1/metrics") }

// address is where one signal is sent: an address of its own is taken as it is, the common one is that of a folder.
func (s *Settings) address(exporter, own, below string) string {
	switch {
	case s.disabled || exporter == "none":
		return ""
	case own != "" || s.endpoint == "":
		return own
	}
	return strings.TrimSuffix(s.endpoint, "/") + below
}

// Check tells everything that is wrong with the settings. Those that nothing uses may be wrong.
func (s *Settings) Check() error {
	if !s.On() {
		return nil
	}
	_, badHeaders := s.header()
	_, badAttributes := pairs("otel-resource-attributes", s.attributes)
	_, badSampler := s.sampling()
	_, badTLS := s.tls()
	all := []error{badHeaders, badAttributes, badSampler, badTLS}
	for _, e := range [...]struct{ name, value string }{
		{"otel-exporter-otlp-endpoint", s.endpoint}, {"otel-exporter-otlp-traces-endpoint", s.tracesAt}, {"otel-exporter-otlp-metrics-endpoint", s.metricsAt},
	} {
		all = append(all, s.checkAddress(e.name, e.value))
	}
	for _, c := range [...]struct{ name, value, may, or string }{
		{"otel-exporter-otlp-protocol", s.protocol, "http/protobuf", ""},
		{"otel-exporter-otlp-compression", s.compression, "none", "gzip"},
		{"otel-traces-exporter", s.tracesExporter, "otlp", "none"},
		{"otel-metrics-exporter", s.metricsExporter, "otlp", "none"},
	} {
		switch {
		case c.value == c.may || c.value == c.or && c.or != "":
		case c.or == "":
			all = append(all, fault.Invalid.Errorf("%s: %q must be %s", c.name, c.value, c.may))
		default:
			all = append(all, fault.Invalid.Errorf("%s: %q must be %s or %s", c.name, c.value, c.may, c.or))
		}
	}
	for _, n := range [...]struct {
		name  string
		value int
	}{
		{"otel-exporter-otlp-timeout", s.timeout},
		{"otel-metric-export-interval", s.interval},
		{"otel-bsp-max-queue-size", s.queue},
		{"otel-bsp-max-export-batch-size", s.batch},
		{"otel-bsp-schedule-delay", s.batchDelay},
	} {
		// A day in milliseconds is above every sensible time, and as many spans are more than memory should hold.
		if n.value <= 0 || n.value > 86_400_000 {
			all = append(all, fault.Invalid.Errorf("%s: %d must be between 1 and 86400000", n.name, n.value))
		}
	}
	return errors.Join(all...)
}

// checkAddress tells what is wrong with the address of a collector. The text of an error does not repeat a password.
func (s *Settings) checkAddress(name, value string) error {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fault.Invalid.Errorf("%s: must be an address such as http://127.0.0.1:4318", name)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fault.Invalid.Errorf("%s: must not have a user, query or fragment; use %s to sign in", name, HeadersFlag)
	case u.Scheme == "http" && s.certified():
		return fault.Invalid.Errorf("%s: certificates require an https address", name)
	}
	return nil
}

func (s *Settings) certified() bool { return s.authority != "" || s.certificate != "" || s.key != "" }

// tls is what connections to the collector are secured with; nil for what is usual.
func (s *Settings) tls() (*tls.Config, error) {
	if !s.certified() {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.authority != "" {
		text, err := os.ReadFile(s.authority)
		if err != nil {
			return nil, fault.Wrap(err, "otel-exporter-otlp-certificate")
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fault.Invalid.Errorf("otel-exporter-otlp-certificate: %s has no certificate in PEM format", s.authority)
		}
	}
	if s.certificate != "" || s.key != "" {
		pair, err := tls.LoadX509KeyPair(s.certificate, s.key)
		if err != nil {
			return nil, fault.Wrap(err, "otel-exporter-otlp-client-certificate and -key")
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// header are the headers sent with every request.
func (s *Settings) header() (map[string]string, error) {
	list, err := pairs(HeadersFlag, s.headers)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(list))
	for _, a := range list {
		if !httpguts.ValidHeaderFieldName(string(a.Key)) || !httpguts.ValidHeaderFieldValue(a.Value.AsString()) {
			return nil, fault.Invalid.Errorf("%s: %q is not a header", HeadersFlag, a.Key)
		}
		out[string(a.Key)] = a.Value.AsString()
	}
	return out, nil
}

// pairs reads name=value,name=value with percent-encoded values. An error does not repeat a value, which may be a secret.
func pairs(setting, text string) (out []attribute.KeyValue, err error) {
	for i, pair := range strings.Split(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil {
			return nil, fault.Invalid.Errorf("%s: item %d must be name=value with a percent-encoded value", setting, i+1)
		}
		out = append(out, attribute.String(name, value))
	}
	return out, nil
}

// sampling decides which calls are traced.
func (s *Settings) sampling() (sdktrace.Sampler, error) {
	name, based := strings.CutPrefix(s.sampler, "parentbased_")
	var root sdktrace.Sampler
	switch name {
	case "always_on":
		root = sdktrace.AlwaysSample()
	case "always_off":
		root = sdktrace.NeverSample()
	case "traceidratio":
		ratio, err := strconv.ParseFloat(cmp.Or(s.ratio, "1"), 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) { // the negation also refuses NaN
			return nil, fault.Invalid.Errorf("otel-traces-sampler-arg: %q must be a number from 0 to 1", s.ratio)
		}
		root = sdktrace.TraceIDRatioBased(ratio)
	default:
		return nil, fault.Invalid.Errorf("otel-traces-sampler: %q must be always_on, always_off or traceidratio, or one of these after parentbased_", s.sampler)
	}
	if based {
		root = sdktrace.ParentBased(root)
	}
	return root, nil
}

// resource are the attributes of the server; those of the settings win.
func (s *Settings) resource(version, node string) []attribute.KeyValue {
	own, _ := pairs("", s.attributes) // checked before
	all := append([]attribute.KeyValue{
		attribute.String("service.name", "catena"), attribute.String("service.version", version), attribute.String("service.instance.id", node),
	}, own...) // of several attributes with one name the last counts
	if s.service != "" {
		all = append(all, attribute.String("service.name", s.service))
	}
	return all
}

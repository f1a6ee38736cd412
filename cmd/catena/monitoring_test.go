package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"catena/rest"
)

var monitoringDir = filepath.Join("..", "..", "deploy", "monitoring")

// described are the metrics of a server that has everything on, with their labels.
func described(t *testing.T) map[string][]string {
	t.Helper()
	a, err := (&global{data: t.TempDir(), logLevel: "error", logFormat: "text"}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.close() })
	s := &serve{}
	s.backups.folder = t.TempDir()
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	s.telemetry.Flags(f)
	if err := f.Parse([]string{"--otel-exporter-otlp-endpoint=http://127.0.0.1:4318"}); err != nil {
		t.Fatal(err)
	}
	registry := s.metrics(a)
	h := a.handler(rest.Config{Metrics: registry, NoMetrics: true})
	t.Cleanup(h.Close)
	descs := make(chan *prometheus.Desc, 1000)
	registry.Describe(descs)
	close(descs)
	// The library shows names and labels of a description only as text.
	form := regexp.MustCompile(`fqName: "([^"]*)".*variableLabels: \{([^}]*)\}`)
	out := map[string][]string{}
	for d := range descs {
		m := form.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("a description of another form: %s", d)
		}
		out[m[1]] = strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' })
	}
	return out
}

// queried are the expressions of the dashboard and of the alerts.
func queried(t *testing.T) (all []string) {
	t.Helper()
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	raw, err := os.ReadFile(filepath.Join(monitoringDir, "dashboard.json"))
	if err == nil {
		err = json.Unmarshal(raw, &board)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	return append(all, alerted(t, func(name, expr string) string { return expr })...)
}

// alerted returns something of each alert.
func alerted(t *testing.T, of func(name, expr string) string) (all []string) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	raw, err := os.ReadFile(filepath.Join(monitoringDir, "alerts.yml"))
	if err == nil {
		err = yaml.Unmarshal(raw, &rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			all = append(all, of(r.Alert, r.Expr))
		}
	}
	return all
}

var (
	metricName = regexp.MustCompile(`\b((?:catena|go|process)_[a-z0-9_]+)(\{[^}]*\})?`)
	matcher    = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!=|!~|=)`)
	grouping   = regexp.MustCompile(`by \(([^)]*)\)`)
	histogram  = regexp.MustCompile(`_(?:bucket|count|sum)$`)
	// added are the labels that Prometheus adds, and the one of the buckets of histograms.
	added = []string{"instance", "job", "le"}
)

// TestMonitoring holds that the dashboard and the alerts query only metrics that a server has, by labels that these have,
// and query each metric of catena's own.
func TestMonitoring(t *testing.T) {
	there := described(t)
	seen := map[string]bool{}
	for _, expr := range queried(t) {
		var labels []string
		for _, m := range metricName.FindAllStringSubmatch(expr, -1) {
			name := m[1]
			if _, ok := there[name]; !ok {
				name = histogram.ReplaceAllString(name, "")
			}
			has, ok := there[name]
			if !ok {
				t.Errorf("%s: there is no metric %s", expr, m[1])
				continue
			}
			seen[name], labels = true, append(labels, has...)
			for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(has, l[1]) && !slices.Contains(added, l[1]) {
					t.Errorf("%s: %s has no label %s, it has %q", expr, name, l[1], has)
				}
			}
		}
		for _, by := range grouping.FindAllStringSubmatch(expr, -1) {
			for l := range strings.SplitSeq(by[1], ",") {
				if l = strings.TrimSpace(l); !slices.Contains(labels, l) && !slices.Contains(added, l) {
					t.Errorf("%s: no label %s among %q", expr, l, labels)
				}
			}
		}
	}
	for name := range there {
		if strings.HasPrefix(name, "catena_") && !seen[name] {
			t.Errorf("neither the dashboard nor an alert queries %s", name)
		}
	}
}

// TestMonitoringManual holds that the manual explains every metric of catena's own, and every alert, and no other.
func TestMonitoringManual(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(manualDir, "monitor.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| `((?:catena_|Catena)\\w+)` ").FindAllStringSubmatch(string(page), -1) {
		rows[m[1]]++
	}
	names := alerted(t, func(name, _ string) string { return name })
	for name := range described(t) {
		if strings.HasPrefix(name, "catena_") {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if rows[name] != 1 {
			t.Errorf("%s has %d rows", name, rows[name])
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("%s does not exist", name)
	}
}

// TestAlerts runs the alerts on series of which some must raise them, if promtool is installed (package prometheus).
func TestAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), promtool, "test", "rules", "alerts_test.yml")
	cmd.Dir = monitoringDir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

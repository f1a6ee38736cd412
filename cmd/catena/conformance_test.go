package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// unoffered are the suite's scenarios, or single checks of one, that ask for what the server
// does not have, and why. Whatever else the suite reports is an error, and so is one of these
// that passes.
var unoffered = []struct{ why, scenarios string }{
	{"the suite calls tools, prompts and resources of its own example server, by names that only that server has", `
		completion-complete json-schema-2020-12
		prompts-get-embedded-resource prompts-get-simple prompts-get-with-args prompts-get-with-image
		resources-read-binary resources-read-text resources-templates-read
		server-stateless/sep-2575-http-server-no-independent-requests-on-stream
		server-stateless/sep-2575-missing-capability-http-400
		server-stateless/sep-2575-server-no-log-without-loglevel
		server-stateless/sep-2575-server-rejects-undeclared-capability
		tools-call-audio tools-call-embedded-resource tools-call-error tools-call-image tools-call-mixed-content
		tools-call-simple-text tools-call-with-logging tools-call-with-progress`},
	{"no tool asks the user or the user's model anything in the middle of a call: there is no elicitation, sampling or list of roots", `
		elicitation-sep1034-defaults elicitation-sep1330-enums
		input-required-result-basic-elicitation input-required-result-basic-list-roots input-required-result-basic-sampling
		input-required-result-capability-check input-required-result-multi-round input-required-result-multiple-input-requests
		input-required-result-non-tool-request input-required-result-request-state input-required-result-result-type
		input-required-result-tampered-state tools-call-elicitation tools-call-sampling`},
	{"resources are read, not watched: a server without sessions has nobody to send changes to", `
		resources-subscribe resources-unsubscribe`},
	{"no argument of a tool is repeated in a header of its own", `
		http-custom-header-server-validation`},
	{"exports are polled with get_export, or waited for; the extension for tasks is not offered", `
		tasks-capability-negotiation tasks-dispatch-and-envelope tasks-lifecycle tasks-mrtr-composition tasks-mrtr-input
		tasks-request-headers tasks-request-state-removal tasks-required-task-error tasks-wire-fields`},
}

// TestConformance runs the protocol's official suite against the built server in both eras.
func TestConformance(t *testing.T) {
	s := startTools(t)
	target, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	key := s.owner(t, "suite")
	front := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Transport: &http.Transport{DisableKeepAlives: true}, // a request that is interrupted disturbs no other
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target) // the suite knows no keys: this adds one, and leaves Host and Origin as they are
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+key)
		},
	})
	front.Config.SetKeepAlivesEnabled(false)
	front.Start()
	t.Cleanup(front.Close)
	known := map[string]bool{} // whether the suite saw it fail
	for _, u := range unoffered {
		for name := range strings.FieldsSeq(u.scenarios) {
			known[name] = false
		}
	}
	passed := 0
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		checks := conformance(t, front.URL+"/mcp", revision)
		if len(checks) < 50 {
			t.Errorf("%s: the suite made only %d checks", revision, len(checks))
		}
		for _, c := range checks {
			_, all := known[c.scenario]
			switch {
			case c.Status == "SUCCESS":
				passed++
			case c.Status != "FAILURE":
			case all:
				known[c.scenario] = true
			default:
				if _, one := known[c.scenario+"/"+c.ID]; !one {
					t.Errorf("%s %s %s: %s", revision, c.scenario, c.ID, c.Message)
				}
				known[c.scenario+"/"+c.ID] = true
			}
		}
	}
	for name, failed := range known {
		if !failed {
			t.Errorf("%s passes: take it off the list", name)
		}
	}
	t.Logf("%d checks passed", passed)
}

// check is one check of the suite.
type check struct {
	scenario string
	ID       string `json:"id"`
	Status   string `json:"status"`
	Message  string `json:"errorMessage"`
}

var suiteFolder = regexp.MustCompile(`^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// conformance runs the suite for one version of the protocol; it writes a folder of checks
// for each scenario.
func conformance(t *testing.T, address, revision string) []check {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// The suite ends with an error when anything fails, so its end says nothing.
	out, _ := node(ctx, "--import", "./node20.mjs", "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server",
		"--url", address, "--requirements", revision, "--output-dir", dir)
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the suite wrote nothing: %v\n%s", err, out)
	}
	slices.Sort(files)
	var all []check
	for _, file := range files {
		name := suiteFolder.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		b, err := os.ReadFile(file)
		if err != nil || name == nil {
			t.Fatalf("%s: %v", file, err)
		}
		var checks []check
		if err := json.Unmarshal(b, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range checks {
			c.scenario = name[1]
			all = append(all, c)
		}
	}
	return all
}

// exited is the status a program ended with.
func exited(err error) int {
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.ExitCode()
	}
	return -1
}

// TestInspector reads and calls the tools with the protocol's inspector.
func TestInspector(t *testing.T) {
	s := startTools(t)
	binary, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	key := s.owner(t, "inspector")
	web := func(path string, args ...string) []string {
		return append([]string{s.base + path, "--transport", "http", "--header", "Authorization: Bearer " + key}, args...)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CATENA_KEY", key)
	for _, test := range []struct {
		name string
		args []string
		exit int
		want string // part of the output
	}{
		{"strict", web("/mcp", "--method", "tools/list", "--strict", "--protocol-era", "modern"), 0, `"name":"update_deck"`},
		{"strict, operations", web("/mcp/automation", "--method", "tools/list", "--strict"), 0, `"name":"run_operation"`},
		{"call", web("/mcp", "--method", "tools/call", "--tool-name", "create_deck", "--tool-args-json", `{"title":"Seen"}`), 0, `"title":"Seen"`},
		{"refused", web("/mcp", "--method", "tools/call", "--tool-name", "get_deck", "--tool-arg", "id=999", "--protocol-era", "modern"), 5, "deck 999: does not exist"},
		{"resource", web("/mcp", "--method", "resources/read", "--uri", "deck://1", "--protocol-era", "modern"), 0, `"mimeType":"text/html"`},
		{"bridge", []string{binary, "mcp", "--method", "prompts/list", "-e", "CATENA_KEY=" + key, "-e", "CATENA_SERVER=" + s.base}, 0, `"name":"review_deck"`},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		out, err := node(ctx, append([]string{"node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli", "--format", "json"}, test.args...)...)
		cancel()
		if got := exited(err); got != test.exit || !strings.Contains(out, test.want) {
			t.Errorf("%s: %v\n%s", test.name, err, out)
		}
	}
}

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"catena/storage/trace"
)

// TestTraceOut has a request cause requests that leave the server: at once, by jobs, by webhooks, and by what a
// listener does as a job of its own. All belong to the request's trace, each with an id of its own.
func TestTraceOut(t *testing.T) {
	type arrival struct{ path, parent string }
	arrived := make(chan arrival, 100)
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- arrival{r.URL.Path, r.Header.Get("Traceparent")}
	}))
	defer outside.Close()
	data := filepath.Join(t.TempDir(), "data")
	listeners := filepath.Join(data, "listeners")
	if err := os.MkdirAll(listeners, 0o700); err != nil {
		t.Fatal(err)
	}
	later := "name: T.Later\nevents: [documentCreated]\ntypes: [File]\nafterCommit: true\nrun: Document.SetProperty\nparams: {xpath: \"dc:title\", value: later, save: true}\n"
	if err := os.WriteFile(filepath.Join(listeners, "later.yaml"), []byte(later), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startServer(t, data, "--egress-http", "--egress-allow", "127.0.0.1")
	send := func(parent, op, body string) string {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, p.base+"/api/v1/automation/"+op, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("Administrator", adminPassword)
		req.Header.Set("Content-Type", "application/json")
		if parent != "" {
			req.Header.Set("Traceparent", parent)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode >= 300 {
			t.Fatalf("%s: %s", op, resp.Status)
		}
		return resp.Header.Get("Catena-Trace")
	}
	for _, hook := range []string{"document.created", "document.updated"} {
		send("", "Webhook.Create", `{"params":{"url":"`+outside.URL+`/`+hook+`","events":["`+hook+`"]}}`)
	}
	want := trace.Trace{ID: strings.Repeat("ab", 16), Sampled: true}
	parent := want.Parent()
	send(parent, "Blob.CreateFromURL", `{"params":{"file":"`+outside.URL+`/fetched"}}`)
	send(parent, "Document.Create", `{"input":"/","params":{"type":"File","name":"a"}}`)
	missing := map[string]bool{"/fetched": true, "/document.created": true, "/document.updated": true}
	seen := map[string]bool{parent: true}
	for len(missing) > 0 {
		a := <-arrived
		if got, _ := trace.Parse(a.parent); got != want || seen[a.parent] {
			t.Errorf("%s: traceparent %q", a.path, a.parent)
		}
		seen[a.parent] = true
		delete(missing, a.path)
	}

	// A run that no trace caused begins one, by which it is found.
	id := send("", "Blob.CreateFromURL?trace=true", `{"params":{"file":"`+outside.URL+`/own"}}`)
	for a := range arrived {
		if a.path != "/own" {
			continue
		}
		if got, _ := trace.Parse(a.parent); id == "" || got.ID != id || got.Sampled {
			t.Errorf("traceparent %q of the run %q", a.parent, id)
		}
		break
	}
}

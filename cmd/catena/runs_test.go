package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestEndScript ends scripts that loop, one sent by a caller, in a process of its own, and one deployed, and a chain
// within whose handler would go on: nothing of them stays.
func TestEndScript(t *testing.T) {
	g := &global{data: t.TempDir(), logLevel: "error", logFormat: "text"}
	a, err := g.openWith(t.Context(), openOptions{adminPassword: adminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.close() })
	c, err := a.client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const body = "Document.Create('/default-domain/workspaces', {type: 'File', name: 'left'}); for (;;) {}"
	deployed := "/**\n * @operation Test.Loop\n * @description Loops.\n */\nfunction run() { " + body + " }\n"
	chain := "name: Test.Around\ndescription: Goes on.\nsteps:\n  - op: Test.Loop\n    onError: {continue: true}\n"
	for _, save := range []call{
		{op: "Script.Save", params: map[string]any{"source": deployed}},
		{op: "Chain.Save", params: map[string]any{"source": chain}},
	} {
		if err := c.object(t.Context(), save, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, loop := range []call{
		{op: "RunScript", params: map[string]any{"script": body}},
		{op: "Test.Loop"},
		{op: "Test.Around"},
	} {
		began, ended := time.Now(), make(chan error, 1)
		go func() { ended <- c.object(t.Context(), loop, nil) }()
		if _, err := c.send(t.Context(), http.MethodDelete, runsAt+"/"+runningID(t, c, loop.op), "", nil); err != nil {
			t.Error(err)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "was ended by ") {
			t.Errorf("%s: after %s %v", loop.op, time.Since(began), err)
		}
		if err := c.object(t.Context(), call{op: "Document.GetChild", input: "/default-domain/workspaces", params: map[string]any{"name": "left"}}, nil); exitCode(err) != 3 {
			t.Errorf("%s: what it made is there: %v", loop.op, err)
		}
	}
}

// runningID waits until an operation runs and returns the id of its run.
func runningID(t *testing.T, c *client, op string) string {
	t.Helper()
	for range 1000 {
		resp, err := c.send(t.Context(), http.MethodGet, runsAt+"?operation="+op, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		var list struct{ Entries []shownRun }
		err = json.NewDecoder(resp.Body).Decode(&list)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Entries) == 1 {
			var out bytes.Buffer
			raw, _ := json.Marshal(map[string]any{"entries": list.Entries})
			if err := listRuns(&out, bytes.NewReader(raw)); err != nil || !strings.HasPrefix(out.String(), list.Entries[0].ID) || !strings.Contains(out.String(), op) {
				t.Errorf("%v: %s", err, out.String())
			}
			return list.Entries[0].ID
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s does not run", op)
	return ""
}

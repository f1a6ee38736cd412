package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

// localClient opens a new data directory.
func localClient(t *testing.T) (*app, *client) {
	t.Helper()
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
	return a, c
}

// TestRetryVersion makes runs of a chain and of a script again whose texts have changed since: as they were, and as
// they are.
func TestRetryVersion(t *testing.T) {
	a, c := localClient(t)
	chain := "name: Test.Text\ndescription: Fails.\ninput: document\nsteps:\n  - op: %s\n    params: {xpath: %q, value: 1}\n"
	script := "/**\n * @operation Test.Text\n * @description Fails.\n */\nfunction run(input) { %s }\n"
	for _, v := range []struct{ family, name, bad, good, code string }{
		{"Chain", "Test.Text", fmt.Sprintf(chain, "Document.SetProperty", "@{'no:' + 'such'}"), fmt.Sprintf(chain, "Document.SetProperty", "dc:title"), ""},
		{"Script", "Test.Script", fmt.Sprintf(strings.ReplaceAll(script, "Test.Text", "Test.Script"), "throw new Error('first')"), fmt.Sprintf(strings.ReplaceAll(script, "Test.Text", "Test.Script"), "return input"), "script_error"},
	} {
		save := func(source string) {
			t.Helper()
			if err := c.object(t.Context(), call{op: v.family + ".Save", params: map[string]any{"source": source}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		save(v.bad)
		first := c.object(t.Context(), call{op: v.name, input: "/default-domain/workspaces"}, nil)
		if first == nil {
			t.Fatalf("%s does not fail", v.name)
		}
		save(v.good)
		run := listedRuns(t, c, "?state=failed&operation="+v.name)[0]
		if run.Version != 1 || v.code != "" && run.Code != v.code {
			t.Errorf("kept %+v after %v", run, first)
		}
		retry := func(version string) error {
			resp, err := c.send(t.Context(), http.MethodPost, runsAt+"/"+run.ID+"/retry?version="+version, "", nil)
			if err == nil {
				resp.Body.Close()
			}
			return err
		}
		other := *a.engine.System()
		other.Name, other.System, other.Admin = "somebody", false, false
		if _, err := a.engine.Run(t.Context(), engine.Call{Op: v.name, Version: 1, As: &other, EntryPoint: engine.REST}); !fault.Is(err, fault.Denied) {
			t.Errorf("%s as it was, by somebody who may not: %v", v.name, err)
		}
		if _, err := a.engine.Run(t.Context(), engine.Call{Op: v.name, Version: 3, As: a.engine.System()}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s as it never was: %v", v.name, err)
		}
		if err := retry("same"); err == nil || err.Error() != first.Error() {
			t.Errorf("%s as it was: %v, want %v", v.name, err, first)
		}
		if err := retry("latest"); err != nil {
			t.Errorf("%s as it is: %v", v.name, err)
		}
		if again := listedRuns(t, c, "?state=failed&operation="+v.name); len(again) != 2 || again[0].Version != 1 {
			t.Errorf("after both: %+v", again)
		}
	}
}

func listedRuns(t *testing.T, c *client, query string) []shownRun {
	t.Helper()
	resp, err := c.send(t.Context(), http.MethodGet, runsAt+query, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct{ Entries []shownRun }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list.Entries
}

// TestSince reads when lists are to begin.
func TestSince(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{"": "", "90m": "2026-05-01T10:30:00Z", "2026-01-02T03:04:05+01:00": "2026-01-02T03:04:05+01:00"} {
		if got, err := sinceWhen(text, now); got != want || err != nil {
			t.Errorf("%q: %s %v", text, got, err)
		}
	}
	if _, err := sinceWhen("yesterday", now); exitCode(err) != 2 {
		t.Errorf("yesterday: %v", err)
	}
}

// TestEndScript ends scripts that loop, one sent by a caller, in a process of its own, and one deployed, and a chain
// within whose handler would go on: nothing of them stays.
func TestEndScript(t *testing.T) {
	_, c := localClient(t)
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
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "was canceled by ") {
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
		if list := listedRuns(t, c, "?operation="+op); len(list) == 1 {
			var out bytes.Buffer
			raw, _ := json.Marshal(map[string]any{"entries": list})
			if err := listRuns(&out, bytes.NewReader(raw)); err != nil || !strings.Contains(out.String(), "\n"+list[0].ID) || !strings.Contains(out.String(), op) {
				t.Errorf("%v: %s", err, out.String())
			}
			return list[0].ID
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s does not run", op)
	return ""
}

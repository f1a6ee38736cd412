package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"catena/ops/bulk"
	"catena/rest/resttest"
	"catena/storage/outbox"
)

// sentEvent is an event of a stream.
type sentEvent struct {
	id, name string
	data     map[string]any
}

// listen opens a stream with headers as Do takes them; next returns its next event, and false at its end.
func listen(t *testing.T, s *resttest.Server, path string, headers ...string) (next func() (sentEvent, bool)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "as" {
			req.SetBasicAuth(headers[i+1], resttest.Password)
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s: %s %s", path, res.Status, res.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(res.Body)
	return func() (e sentEvent, ok bool) {
		for lines.Scan() {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				if err := json.Unmarshal([]byte(value), &e.data); err != nil {
					t.Error(err)
				}
			case "":
				if e.data != nil {
					return e, true
				}
			}
		}
		return e, false
	}
}

// TestAsyncEvents follows asynchronous runs to their ends: one that goes well, one that fails and one that is ended.
func TestAsyncEvents(t *testing.T) {
	s := startStuck(t)
	for _, c := range []struct{ op, body, state, code string }{
		{"Test.Echo", `{"params":{"value":"x"}}`, "over", ""},
		{"Test.Fail", `{"params":{"kind":"limit","code":"depth"}}`, "failed", "depth"},
		{"Test.Linger", `{"params":{"value":"x"}}`, "failed", "run_ended"},
	} {
		begun := s.Do("POST", "/api/v1/automation/"+c.op+"/@async", c.body, "as", "alice")
		answers(t, begun, 202, "")
		own := strings.TrimSuffix(strings.TrimPrefix(begun.Header.Get("Location"), s.URL), "/status")
		next := listen(t, s, own+"/events", "as", "alice")
		e, ok := next()
		if ok && e.data["state"] == "running" {
			if c.op == "Test.Linger" {
				answers(t, s.Do("DELETE", runsAt+"/"+e.data["id"].(string), "", "as", "alice"), 204, "")
			}
			e, ok = next()
		}
		code, _ := e.data["code"].(string)
		if !ok || e.id != c.state || e.name != "run" || e.data["op"] != c.op || e.data["state"] != c.state || code != c.code || e.data["result"] != s.URL+own {
			t.Errorf("%s: last event %+v %v", c.op, e, ok)
		}
		if e, ok := next(); ok {
			t.Errorf("%s: after the last %+v", c.op, e)
		}
		answers(t, s.Do("GET", own+"/events", "", "as", "alice", "Last-Event-ID", c.state), 204, "")
		answers(t, s.Do("GET", own+"/events", "", "as", "bob"), 404, "")
	}
}

// TestAsyncEventsEnd revokes the key that a stream rests on.
func TestAsyncEventsEnd(t *testing.T) {
	s := startStuck(t)
	key := bearer(s.Key("alice", "read_write"))
	begun := s.Do("POST", "/api/v1/automation/Test.Linger/@async", `{"params":{"value":"x"}}`, key...)
	answers(t, begun, 202, "")
	next := listen(t, s, strings.TrimSuffix(strings.TrimPrefix(begun.Header.Get("Location"), s.URL), "/status")+"/events", key...)
	if e, ok := next(); !ok || e.data["state"] != "running" {
		t.Fatalf("first event %+v", e)
	}
	answers(t, s.Do("POST", "/api/v1/automation/Key.Revoke", `{"params":{"id":1}}`, "as", "alice"), 204, "")
	if e, ok := next(); ok {
		t.Errorf("after the end of the key %+v", e)
	}
	if run := runningRun(t, s, "Test.Linger"); run["user"] != "alice" {
		t.Errorf("the run %v", run)
	}
}

// TestBulkEvents follows a bulk command from before it is carried out to its end.
func TestBulkEvents(t *testing.T) {
	s := startStuck(t)
	command := s.Do("POST", "/api/v1/search/bulk/trash?query=SELECT+*+FROM+File", "", "as", "alice")
	at := "/api/v1/bulk/" + field(t, command.Text, "commandId") + "/events"
	answers(t, s.Do("GET", at, "", "as", "bob"), 404, "")
	next := listen(t, s, at, "as", "alice")
	if e, ok := next(); !ok || e.id != "SCHEDULED-0" || e.name != "bulk" {
		t.Fatalf("first event %+v %v", e, ok)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- outbox.Run(ctx, s.Repo, outbox.Handlers{bulk.JobKind: {Do: bulk.Job(s.Engine)}})
	}()
	var last sentEvent
	for e, ok := next(); ok; e, ok = next() {
		last = e
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if last.data["state"] != "COMPLETED" || last.id != "COMPLETED-0" {
		t.Errorf("last event %+v", last)
	}
	answers(t, s.Do("GET", at, "", "as", "alice", "Last-Event-ID", last.id), 204, "")
}

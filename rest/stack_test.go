package rest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestStackDisplay fails calls while answers have traces, and while they have none.
func TestStackDisplay(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("alice")
	stack := func(op, body string) string {
		t.Helper()
		a := s.Do("POST", "/api/v1/automation/"+op, body, "as", "alice")
		var got struct {
			Status int    `json:"status"`
			Trace  string `json:"stacktrace"`
		}
		if err := json.Unmarshal([]byte(a.Text), &got); err != nil || got.Status < 400 {
			t.Fatalf("%s: %s, %v", op, a.Text, err)
		}
		return got.Trace
	}
	toggle := func(want string) {
		t.Helper()
		if a := s.Do("POST", "/api/v1/automation/JsonStack.ToggleDisplay", "{}"); !strings.Contains(a.Text, want) {
			t.Fatalf("%s, want %s", a.Text, want)
		}
	}
	const call = `{"params":{"id":"Document.Create","parameters":{"type":"Nope"}},"input":"/"}`
	if got := stack("RunOperation", call); got != "" {
		t.Errorf("a trace that nobody asked for: %s", got)
	}
	toggle("true")
	if got := stack("RunOperation", call); !strings.Contains(got, "RunOperation") || !strings.Contains(got, "Document.Create") {
		t.Errorf("no trace, or another: %q", got)
	}
	if got := stack("User.ChangePassword", `{"params":{"oldPassword":"canary","newPassword":"canary"}}`); strings.Contains(got, "canary") {
		t.Errorf("a password is shown: %s", got)
	}
	if a := s.Do("GET", "/api/v1/path/nowhere", ""); strings.Contains(a.Text, "Document.Create") {
		t.Errorf("the trace of another request: %s", a.Text)
	}
	toggle("false")
	if got := stack("RunOperation", call); got != "" {
		t.Errorf("still a trace: %s", got)
	}
}

package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestAnnotationReplies reads the replies to several annotations, and to those replies, at once.
func TestAnnotationReplies(t *testing.T) {
	s := start(t)
	if got := s.Do("POST", "/api/v1/path/default-domain/workspaces", fmt.Sprintf(document, "plan")); got.StatusCode != http.StatusCreated {
		t.Fatal(got.Text)
	}
	const plan = "/api/v1/path/default-domain/workspaces/plan/@annotation"
	say := func(at, word, text string) string {
		t.Helper()
		got := s.Do("POST", at, fmt.Sprintf(`{"entity-type":%q,"text":%q,"xpath":"file:content"}`, word, text))
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(got.Text), &made); err != nil || got.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %s", at, got.StatusCode, got.Text)
		}
		return made.ID
	}
	one, two := say(plan, "annotation", "one"), say(plan, "annotation", "two")
	reply := say("/api/v1/id/"+one+"/@comment", "comment", "first")
	say("/api/v1/id/"+reply+"/@comment", "comment", "deeper")
	say("/api/v1/id/"+two+"/@comment", "comment", "other")

	list := func(method, path, body string) string {
		t.Helper()
		got := s.Do(method, path, body)
		var all struct{ Entries []struct{ Text string } }
		if err := json.Unmarshal([]byte(got.Text), &all); err != nil || got.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, got.StatusCode, got.Text)
		}
		var texts []string
		for _, e := range all.Entries {
			texts = append(texts, e.Text)
		}
		return strings.Join(texts, " ")
	}
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", plan + "/comments", fmt.Sprintf(`[%q]`, one), "deeper first"},
		{"POST", plan + "/comments", fmt.Sprintf(`[%q,%q]`, one, two), "other deeper first"},
		{"GET", plan + "/comments?annotationIds=" + two, "", "other"},
	} {
		if got := list(c.method, c.path, c.body); got != c.want {
			t.Errorf("%s %s %s: %s, want %s", c.method, c.path, c.body, got, c.want)
		}
	}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", plan + "/comments", "", 400},
		{"POST", plan + "/comments", `{"ids":[]}`, 400},
		{"DELETE", plan + "/comments", "", 405},
	} {
		if got := s.Do(c.method, c.path, c.body); got.StatusCode != c.status {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, got.StatusCode, c.status)
		}
	}
}

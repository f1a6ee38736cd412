package rest_test

import (
	"net/http"
	"strings"
	"testing"
)

// bodiless are addresses that read no body, whatever comes.
var bodiless = map[string]bool{
	"POST /api/v1/automation/login": true, "POST /v1/decks/:id/recover": true, "POST /v1/decks/:id/trash": true, "POST /v1/decks/:id/versions": true,
	"POST /v1/decks/:id/versions/:version/restore": true,
}

// TestTypesEverywhere sends every address that takes a body types it does not take: nothing changes,
// and nothing is a fault of the server.
func TestTypesEverywhere(t *testing.T) {
	e := newEverything(t, "Administrator", "/default-domain/workspaces")
	e.fill("Canary")
	before, version, sent := e.rows(), e.version(), 0
	for _, s := range e.addresses() {
		if s.method == http.MethodGet || s.method == http.MethodDelete || s.typ != "application/json" || s.body == "{}" || strings.Contains(s.name, "/live") || strings.Contains(s.name, "bulk") || bodiless[s.name] {
			continue
		}
		for _, typ := range []string{
			"text/plain", "text/html", "application/xml", "text/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/octet-stream", "application/jsonp", "text/json", "image/png",
			"application/x-yaml", "application/json-patch+json", "text/plain; application/json", "application/zip", "*/*",
		} {
			if strings.HasSuffix(s.name, "/import") && strings.HasPrefix(typ, "text/") && typ != "text/xml" && typ != "text/json" {
				continue // which takes text
			}
			s.typ = typ
			sent++
			if a := e.send(s); a.StatusCode < http.StatusBadRequest || a.StatusCode >= http.StatusInternalServerError && a.StatusCode != http.StatusNotImplemented {
				t.Errorf("%s as %s: %s %.200s", s.name, typ, a.Status, a.Text)
			}
			if e.version() != version {
				t.Errorf("%s as %s changes %.200s", s.name, typ, changed(before, e.rows()))
				before, version = e.rows(), e.version()
			}
		}
	}
	if t.Logf("%d requests", sent); sent < 300 {
		t.Error("the test does not test much")
	}
}

// TestRepliesOfOthers has bob use alice's idempotency key for the same request at every address that keeps
// answers: he gets no answer of hers.
func TestRepliesOfOthers(t *testing.T) {
	e := newEverything(t, "alice", "/default-domain/workspaces/closed")
	e.User("bob")
	e.closed()
	e.fill("Canary")
	kept := 0
	for _, s := range append(e.addresses(), e.operations()...) {
		if s.method != http.MethodPost || strings.HasPrefix(s.path, "/mcp") || strings.Contains(s.body, "password") {
			continue
		}
		if a := e.send(s, "as", "alice", "Idempotency-Key", "k"); a.StatusCode >= http.StatusBadRequest {
			continue
		}
		if a := e.send(s, "as", "alice", "Idempotency-Key", "k"); a.Header.Get("Idempotency-Replayed") == "" {
			continue // what only reads is not kept
		}
		kept++
		if a := e.send(s, "as", "bob", "Idempotency-Key", "k"); a.Header.Get("Idempotency-Replayed") != "" || strings.Contains(a.Text, "Canary") && !strings.Contains(s.path+s.body, "Canary") {
			t.Errorf("%s: %s %.200s", s.name, a.Status, a.Text)
		}
	}
	if t.Logf("%d answers kept", kept); kept < 20 {
		t.Error("the test does not test much")
	}
}

package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"catena/rest"
)

// foreignTypes are media types that few addresses take, and some that hide one that many do.
var foreignTypes = []string{
	"text/plain", "text/html", "application/xml", "text/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/octet-stream", "application/jsonp", "text/json", "image/png",
	"application/x-yaml", "application/json-patch+json", "application/merge-patch+json", "text/plain; application/json", "application/json, text/plain", "application/zip", "*/*",
}

// TestTypesEverywhere sends every address that reads a body types that it does not take: each is refused
// for its type, and nothing changes. Those that read none do not look at its type.
func TestTypesEverywhere(t *testing.T) {
	e := newEverything(t, "Administrator", "/default-domain/workspaces")
	e.fill("Canary")
	before, version := e.rows(), e.version()
	refused, reading := tally{}, tally{}
	var unread []shot
	for _, s := range e.addresses() {
		if s.method == http.MethodGet || s.method == http.MethodDelete || strings.HasSuffix(s.name, "/*tail") {
			continue // the rest of an address is an adapter's
		}
		if s.reads == rest.NoBody {
			unread = append(unread, s)
			continue
		}
		reading[s.table]++
		for _, typ := range foreignTypes {
			plain, _, _ := strings.Cut(typ, ";")
			if s.reads.Takes(plain) {
				continue
			}
			s.typ = typ
			refused[s.table]++
			if a := e.send(s); a.StatusCode != http.StatusUnsupportedMediaType {
				t.Errorf("%s as %s: %s %.200s", s.name, typ, a.Status, a.Text)
			}
			if e.version() != version {
				t.Errorf("%s as %s changes %.200s", s.name, typ, changed(before, e.rows()))
				before, version = e.rows(), e.version()
			}
		}
	}
	for _, s := range unread {
		s.typ, s.body = "text/html", "<p>"
		if a := e.send(s); a.StatusCode == http.StatusUnsupportedMediaType || strings.Contains(a.Text, "body") {
			t.Errorf("%s: %s %.200s", s.name, a.Status, a.Text)
		}
	}
	reading.least(t, "read a body", tally{"address": 50, "adapter": 9})
	refused.least(t, "refused", tally{"address": 800, "adapter": 140})
	tally{"address": len(unread)}.least(t, "read none", tally{"address": 12})
}

// TestRepliesOfOthers has bob use alice's idempotency key for the same request at every address that keeps
// answers: he gets no answer of hers.
func TestRepliesOfOthers(t *testing.T) {
	e := newEverything(t, "alice", "/default-domain/workspaces/closed")
	e.User("bob")
	e.closed()
	e.fill("Canary")
	kept := tally{}
	for _, s := range append(e.addresses(), e.operations()...) {
		if s.method != http.MethodPost || strings.HasPrefix(s.path, "/mcp") || strings.Contains(s.body, "password") || s.name == "operation Deck.OpenShare" { // which shows a deck to anyone who has its link
			continue
		}
		if a := e.send(s, "as", "alice", "Idempotency-Key", "k"); a.StatusCode >= http.StatusBadRequest {
			continue
		}
		if a := e.send(s, "as", "alice", "Idempotency-Key", "k"); a.Header.Get("Idempotency-Replayed") == "" {
			continue // what only reads is not kept
		}
		kept[s.table]++
		if a := e.send(s, "as", "bob", "Idempotency-Key", "k"); a.Header.Get("Idempotency-Replayed") != "" || strings.Contains(a.Text, "Canary") && !strings.Contains(s.path+s.body, "Canary") {
			t.Errorf("%s: %s %.200s", s.name, a.Status, a.Text)
		}
	}
	kept.least(t, "kept", tally{"address": 10, "adapter": 3, "operation": 30})
}

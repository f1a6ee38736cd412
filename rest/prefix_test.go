package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
)

// TestPrefix asks a server behind a proxy that adds a prefix for whatever has addresses in it: all of them lead
// through the proxy.
func TestPrefix(t *testing.T) {
	s := resttest.Start(t, resttest.Config{
		Ops: decks.Ops(), Repo: decks.Listen,
		Rest: func(c *rest.Config) { c.Base = "https://example.org/behind/nuxeo" },
	})
	s.User("alice")
	const public, note = "https://example.org/behind/", `{"entity-type":"document","type":"File","name":"f","properties":{"dc:title":"f"}}`
	told, deck := 0, "" // decks have consecutive numbers only as long as no transaction runs again
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/api/v1/path/default-domain/workspaces", note, http.StatusCreated},
		{"GET", "/api/v1/path/default-domain/workspaces/f", "", http.StatusOK},
		{"GET", "/api/v1/path/default-domain/nope", "", http.StatusNotFound},
		{"POST", "/api/v1/automation/Repository.Query/@async", `{"params":{"query":"SELECT * FROM File"}}`, http.StatusAccepted},
		{"GET", "/json/cmis", "", http.StatusOK},
		{"POST", "/v1/decks", `{"title":"one"}`, http.StatusCreated},
		{"GET", "/v1/decks?per_page=1", "", http.StatusOK},
		{"GET", "/nuxeo/v1/decks/DECK", "", http.StatusOK},
		{"GET", "/v1/decks/99", "", http.StatusNotFound},
	} {
		got := s.Do(c.method, strings.Replace(c.path, "DECK", deck, 1), c.body, "enrichers.document", "documentURL, thumbnail, preview", "X-NXProperties", "*")
		if got.StatusCode != c.status {
			t.Errorf("%s %s: %s %s", c.method, c.path, got.Status, got.Text)
			continue
		}
		if c.method == http.MethodPost && c.path == "/v1/decks" {
			made, _ := got.JSON(t)["data"].(map[string]any)
			deck = fmt.Sprint(made["id"])
		}
		check := func(where, v string) {
			bare := strings.HasPrefix(v, "/docs/") || strings.HasPrefix(v, "/nuxeo/") || strings.HasPrefix(v, "/v1/") || strings.Contains(v, strings.TrimPrefix(s.URL, "http://"))
			if strings.Contains(v, "example.org") || strings.HasPrefix(v, "/behind/") {
				told++
				bare = bare || strings.Contains(v, "example.org") && !strings.Contains(v, public)
			}
			if bare {
				t.Errorf("%s %s: %s is %s", c.method, c.path, where, v)
			}
		}
		for _, name := range []string{"Location", "Link"} {
			check(name, got.Header.Get(name))
		}
		if strings.Contains(got.Header.Get("Content-Type"), "json") {
			texts(got.JSON(t), "", check)
		} else {
			check("body", got.Text)
		}
	}
	if told < 12 {
		t.Errorf("%d addresses are not many", told)
	}
}

// texts calls f with every text in a value of JSON.
func texts(v any, at string, f func(at, text string)) {
	switch v := v.(type) {
	case string:
		f(at, v)
	case []any:
		for _, item := range v {
			texts(item, at+"/*", f)
		}
	case map[string]any:
		for name, item := range v {
			texts(item, at+"/"+name, f)
		}
	}
}

package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"catena/engine"
	"catena/rest/resttest"
)

// TestDeprecated calls operations that are deprecated and one that is not: answers, also those of failures, OpenAPI and
// the reference tell.
func TestDeprecated(t *testing.T) {
	old := func(name, instead string) engine.Op {
		return engine.Op{Name: name, Doc: "d", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(echo), Deprecated: engine.Deprecation{Since: "2026-03-01", Instead: instead}}
	}
	s := resttest.Start(t, resttest.Config{Ops: slices.Concat(testOps, []engine.Op{old("Test.Old", "Test.Echo"), old("Test.Older", "")})})
	link := func(name string) string {
		return `</site/automation/doc#op-` + name + `>; rel="deprecation"; type="text/html"`
	}
	for _, c := range []struct{ op, body, since, links string }{
		{"Test.Old", `{"params":{"value":"x"}}`, "@1772323200", link("Test.Old") + ` </api/v1/automation/Test.Echo>; rel="successor-version"`},
		{"Test.Old", `{"params":{}}`, "@1772323200", link("Test.Old") + ` </api/v1/automation/Test.Echo>; rel="successor-version"`},
		{"Test.Older", `{"params":{"value":"x"}}`, "@1772323200", link("Test.Older")},
		{"Test.Echo", `{"params":{"value":"x"}}`, "", ""},
	} {
		h := s.Do("POST", "/api/v1/automation/"+c.op, c.body).Header
		if links := strings.Join(h.Values("Link"), " "); h.Get("Deprecation") != c.since || links != c.links || h.Get("Sunset") != "" {
			t.Errorf("%s: %v", c.op, h)
		}
	}
	paths := s.Do("GET", "/api/v1/openapi.json", "").JSON(t)["paths"].(map[string]any)
	for name, want := range map[string]any{"Test.Old": true, "Test.Echo": nil} {
		post := paths["/api/v1/automation/"+name].(map[string]any)["post"].(map[string]any)
		if post["deprecated"] != want {
			t.Errorf("%s: deprecated %v in OpenAPI", name, post["deprecated"])
		}
	}
	if page := s.Do("GET", "/site/automation/doc", "").Text; strings.Count(page, "since 2026-03-01") != 2 || !strings.Contains(page, `use <a href="#op-Test.Echo">Test.Echo</a>`) {
		t.Error("the reference does not tell")
	}
}

// TestIgnoredParameters: an answer names the parameters that did nothing, those that the operation does not have and those that it has
// only for the sake of clients.
func TestIgnoredParameters(t *testing.T) {
	s := start(t)
	for _, c := range []struct{ params, want string }{
		{`{"action": "trash", "query": "SELECT * FROM File"}`, ""},
		{`{"action": "trash", "query": "SELECT * FROM File", "bucketSize": 5}`, "bucketSize"},
		{`{"action": "trash", "query": "SELECT * FROM File", "nothing": 1, "bucketSize": 5}`, "nothing,bucketSize"},
	} {
		got := s.Do("POST", "/api/v1/automation/Bulk.RunAction", `{"params": `+c.params+`}`)
		if h := got.Header.Get("Catena-Ignored"); h != c.want || got.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, header %q, want %q", c.params, got.Status, h, c.want)
		}
	}
}

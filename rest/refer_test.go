package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/rest"
	"catena/rest/resttest"
)

// named gives a request an id.
func named(id, request string) string { return fmt.Sprintf(`{"id":%q,%s`, id, request[1:]) }

const workspaces = "/api/v1/path/default-domain/workspaces"

// TestBatchReferences has requests use what earlier ones made: in paths, queries and bodies.
func TestBatchReferences(t *testing.T) {
	s := start(t)
	var answer struct {
		Entries []struct {
			ID     string
			Status int
			Body   map[string]any
		}
	}
	got := sendBatch(s, []string{"properties", "*"},
		named("create", request("POST", workspaces, `{"entity-type":"document","type":"Folder","name":"f","properties":{"dc:title":"a/b?c&d {$ e","dc:subjects":["x","y"]}}`)),
		request("GET", "/api/v1/id/{$create#/uid}", ""),
		named("note", request("POST", "/api/v1/id/{$create#/uid}", `{"entity-type":"document","type":"Note","name":"n","properties":{"dc:title":"in {$create#/properties/dc:title}","dc:subjects":"{$create#/properties/dc:subjects}","dc:source":"{$create#/properties/dc:subjects/1}","dc:description":"{$ is none, {create#/uid} too, trashed {$create#/isTrashed}"}}`)),
		request("GET", "/api/v1/search/execute?query=SELECT%20*%20FROM%20Note%20WHERE%20dc:title='in%20{$create#/properties/dc:title}'&pageSize=1", ""),
		request("POST", "/api/v1/automation/Document.Lock", `{"input":"{$note#/uid}","params":{}}`),
	)
	if err := json.Unmarshal([]byte(got.Text), &answer); err != nil || got.StatusCode != http.StatusOK {
		t.Fatalf("%v: %s %s", err, got.Status, got.Text)
	}
	e := answer.Entries
	if e[0].ID != "create" || e[1].ID != "" || e[2].ID != "note" || e[1].Body["uid"] != e[0].Body["uid"] || e[2].Body["parentRef"] != e[0].Body["uid"] || e[4].Body["uid"] != e[2].Body["uid"] {
		t.Errorf("%s", got.Text)
	}
	p, _ := e[2].Body["properties"].(map[string]any)
	if s := fmt.Sprint(p["dc:title"], p["dc:subjects"], p["dc:source"], "; ", p["dc:description"]); s != "in a/b?c&d {$ e[x y]y; {$ is none, {create#/uid} too, trashed false" {
		t.Errorf("the note: %s", s)
	}
	if hits, _ := e[3].Body["entries"].([]any); len(hits) != 1 {
		t.Errorf("found: %v", e[3].Body)
	}
	reader := s.Do("POST", api+"/batch", `{"requests":[`+named("me", request("GET", "/api/v1/path/default-domain", ""))+","+request("GET", "/api/v1/id/{$me#/uid}", "")+`]}`,
		bearer(s.Key("Administrator", "read_only"))...)
	answers(t, reader, http.StatusOK, `"status":200`)
	readContract(t, s, platformAPI).check("POST", "/api/v1/batch", got)
}

// TestBatchNoReference has requests refer to what is not there: each is told, and nothing is done.
func TestBatchNoReference(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: testOps, Rest: func(c *rest.Config) { c.Limits.JSON = 4096 }})
	create := named("create", request("POST", workspaces, batchFolder))
	long := strings.Repeat("{$create#/uid}", 200)
	for _, c := range []struct {
		name   string
		after  []string
		status int
		code   string
		has    string
	}{
		{"unknown", []string{request("GET", "/api/v1/id/{$other#/uid}", "")}, 400, "unresolved_reference", "request 1: reference {$other#/uid}: no earlier request has this id"},
		{"unknown in a body", []string{request("POST", workspaces, `{"entity-type":"document","type":"Note","name":"{$other#/uid}"}`)}, 400, "unresolved_reference", "reference {$other#/uid}"},
		{"later", []string{request("GET", "/api/v1/id/{$b#/uid}", ""), named("b", request("GET", "/api/v1/me", ""))}, 400, "unresolved_reference", "{$b#/uid}"},
		{"its own", []string{named("b", request("POST", workspaces, `{"entity-type":"document","type":"Note","name":"{$b#/uid}"}`))}, 400, "unresolved_reference", "{$b#/uid}"},
		{"nothing there", []string{request("GET", "/api/v1/id/{$create#/nothing/0}", "")}, 400, "unresolved_reference", "request 1: reference {$create#/nothing/0}: the response has no such value"},
		{"beyond a list", []string{request("GET", "/api/v1/id/{$create#/facets/01}", "")}, 400, "unresolved_reference", "no such value"},
		{"no pointer", []string{request("GET", "/api/v1/id/{$create#uid}", "")}, 400, "unresolved_reference", "a JSON Pointer is missing"},
		{"no text", []string{request("GET", "/api/v1/id/{$create#/facets}", "")}, 400, "unresolved_reference", "not a string"},
		{"no body", []string{named("log", request("POST", "/api/v1/automation/Log", `{"params":{"level":"info","message":"x"}}`)), request("GET", "/api/v1/id/{$log#/uid}", "")}, 400, "unresolved_reference", "no body"},
		{"an id twice", []string{named("create", request("GET", "/api/v1/me", ""))}, 400, "invalid", "request 1: id"},
		{"an odd id", []string{named("a b", request("GET", "/api/v1/me", ""))}, 400, "invalid", "request 1: id"},
		{"a segment stays one", []string{
			named("odd", request("POST", "/api/v1/automation/Test.Echo", `{"params":{"value":"me/x?y=1"}}`)), request("GET", "/api/v1/id/{$odd#/value}", ""),
		}, 404, "notfound", "request 2: "},
		{"too much", []string{request("POST", workspaces, `{"entity-type":"document","type":"Note","name":"n","properties":{"dc:title":"`+long+`"}}`)}, 413, "body_too_large", "request 1: "},
	} {
		got := sendBatch(s, nil, append([]string{create}, c.after...)...)
		if p := got.JSON(t); got.StatusCode != c.status || p["code"] != c.code || !strings.Contains(got.Text, c.has) {
			t.Errorf("%s: %s %s, want %d %s with %s", c.name, got.Status, got.Text, c.status, c.code, c.has)
		}
		if left := s.Do("GET", workspaces+"/f", ""); left.StatusCode != http.StatusNotFound {
			t.Fatalf("%s: the folder stays: %s", c.name, left.Text)
		}
	}
}

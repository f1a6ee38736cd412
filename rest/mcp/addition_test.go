package mcp_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"catena/decks"
	"catena/decks/field"
	"catena/decks/route"
	"catena/engine"
	"catena/rest/resttest"
	"catena/scripts"
)

type addedParams struct {
	Origin string `json:"origin" doc:"Where it is from." enum:"attic,cellar"`
}

func (p addedParams) run(_ *engine.Ctx, _ engine.Void) (string, error) { return p.Origin, nil }

// TestNewOperation adds an operation to a family's list, and nothing else: it is called over REST and by models, its callers
// and the values of its parameter hold, and it is in the registry, the reference, the OpenAPI description, the tools for
// models and the typings of scripts, for those who may call it.
func TestNewOperation(t *testing.T) {
	added := engine.Op{
		Name: "Attic.Added", Category: "Services", Doc: "Returns where it is from.", Effect: engine.Pure,
		Callers: engine.Admins, Run: engine.On(addedParams.run),
	}
	s := resttest.Start(t, resttest.Config{Ops: []engine.Op{added}})
	s.User("alice")
	for path, want := range map[string]string{
		"/nuxeo/api/v1/automation":             `"id":"Attic.Added"`,
		"/nuxeo/api/v1/automation/Attic.Added": `"values":["attic","cellar"]`,
		"/nuxeo/api/v1/automation/doc":         "Attic.Added",
		"/nuxeo/api/v1/openapi.json":           `"/api/v1/automation/Attic.Added"`,
	} {
		if got := s.Do("GET", path, ""); !strings.Contains(got.Text, want) {
			t.Errorf("%s: %s without %s", path, got.Status, want)
		}
		if got := s.Do("GET", path, "", "as", "alice"); strings.Contains(got.Text, want) {
			t.Errorf("%s tells alice of an operation that she may not call", path)
		}
	}
	call := func(params, as string) string {
		got := s.Do("POST", "/nuxeo/api/v1/automation/Attic.Added", `{"params":`+params+`}`, "as", as)
		return fmt.Sprint(got.StatusCode, " ", got.Text)
	}
	if got := call(`{"origin":"attic"}`, "Administrator"); !strings.Contains(got, "attic") || !strings.HasPrefix(got, "200") {
		t.Errorf("REST: %s", got)
	}
	if got := call(`{"origin":"roof"}`, "Administrator"); !strings.Contains(got, "is not one of attic, cellar") {
		t.Errorf("a value that it does not have: %s", got)
	}
	if got := call(`{"origin":"attic"}`, "alice"); !strings.HasPrefix(got, "404") {
		t.Errorf("alice: %s", got)
	}
	c := connect(t, s, "/mcp/automation", s.Key("Administrator", "read_write"), "")
	if about, text, failed := use(t, c, "describe_operation", `{"name":"Attic.Added"}`); failed || !strings.Contains(fmt.Sprint(about), "cellar") {
		t.Errorf("describe_operation: %s", text)
	}
	if found, _, _ := use(t, c, "search_operations", `{"query":"attic added"}`); !strings.Contains(fmt.Sprint(found), "Attic.Added") {
		t.Errorf("search_operations: %v", found)
	}
	if out, text, failed := use(t, c, "run_operation", `{"operation":"Attic.Added","params":{"origin":"cellar"}}`); failed || !strings.Contains(fmt.Sprint(out), "cellar") {
		t.Errorf("run_operation: %s", text)
	}
	typings, err := scripts.Types(s.Engine.Set())
	if err != nil || !strings.Contains(string(typings), "Added(") || !strings.Contains(string(typings), `"attic"`) {
		t.Errorf("typings without the operation: %v", err)
	}
}

// TestNewRoute adds a row to the table of the deck service's addresses, and nothing else: it is served, wants a user, and
// is in the OpenAPI description.
func TestNewRoute(t *testing.T) {
	before := route.Routes
	t.Cleanup(func() { route.Routes = before })
	route.Routes = append(slices.Clone(before), route.Route{
		In: field.Both, Method: "GET", Path: "/v1/attic", ID: "getAttic", Op: "Deck.Account", Summary: "The attic", Result: "User", Status: 200,
	})
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	if got := s.Do("GET", "/v1/attic", "", "Authorization", "Bearer "+s.Key("alice", "read_only")); got.StatusCode != http.StatusOK || !strings.Contains(got.Text, "alice") {
		t.Errorf("%s %s", got.Status, got.Text)
	}
	if got := s.Do("GET", "/v1/attic", "", "as", ""); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("nobody: %s %s", got.Status, got.Text)
	}
	for _, revision := range []string{"a", "b"} {
		if got := s.Do("GET", "/openapi-"+revision+".json", ""); !strings.Contains(got.Text, `"operationId":"getAttic"`) {
			t.Errorf("OpenAPI of revision %s without the address: %s", revision, got.Status)
		}
	}
}

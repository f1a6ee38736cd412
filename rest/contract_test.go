package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/people"
)

// contract is a description of the service, and what its answers are checked with.
type contract struct {
	t        *testing.T
	doc      map[string]any
	compiler *jsonschema.Compiler
	used     int             // schemas that an answer was checked with
	forms    []describedPath // made when first asked for
}

func readContract(t *testing.T, s *resttest.Server, path string) *contract {
	t.Helper()
	return readContractAs(t, s, path, "")
}

// readContractAs reads a description as a user; nobody is "".
func readContractAs(t *testing.T, s *resttest.Server, path, user string) *contract {
	t.Helper()
	c := &contract{t: t, doc: s.Do("GET", path, "", "as", user).JSON(t), compiler: jsonschema.NewCompiler()}
	if err := c.compiler.AddResource("api.json", c.doc); err != nil {
		t.Fatal(err)
	}
	return c
}

// at returns a part of the description.
func (c *contract) at(keys ...string) map[string]any {
	part := c.doc
	for _, key := range keys {
		part, _ = part[key].(map[string]any)
	}
	return part
}

// check compares an answer with what the description says of a request: the status, and
// every field of the body, of which none may be unknown.
func (c *contract) check(method, path string, got *resttest.Answer) {
	c.t.Helper()
	responses := c.at("paths", path, strings.ToLower(method), "responses")
	status := fmt.Sprint(got.StatusCode)
	if responses[status] == nil && got.StatusCode >= http.StatusBadRequest {
		status = "default"
	}
	response, ok := responses[status].(map[string]any)
	if !ok {
		c.t.Errorf("%s %s: status %s is not described: %.300s", method, path, got.Status, got.Text)
		return
	}
	content, _ := response["content"].(map[string]any)
	if content == nil {
		if got.Text != "" {
			c.t.Errorf("%s %s: body %s", method, path, got.Text)
		}
		return
	}
	typ, _, _ := strings.Cut(got.Header.Get("Content-Type"), ";")
	if content[typ] == nil {
		typ = "*/*"
	}
	if content[typ] == nil {
		c.t.Errorf("%s %s: type %s is not described", method, path, got.Header.Get("Content-Type"))
		return
	}
	if of, _ := content[typ].(map[string]any); of["schema"] == nil || typ != "application/json" && typ != "application/problem+json" {
		return
	}
	segment := "api.json#/paths/" + pointer(path) + "/" + strings.ToLower(method) + "/responses/" + status + "/content/" + pointer(typ) + "/schema"
	c.used++
	schema, err := c.compiler.Compile(segment)
	if err != nil {
		c.t.Fatal(err)
	}
	var body any
	if err := json.Unmarshal([]byte(got.Text), &body); err != nil {
		c.t.Fatalf("%s %s: %v: %.300s", method, path, err, got.Text)
	}
	if err := schema.Validate(body); err != nil {
		c.t.Errorf("%s %s: %v\n%s", method, path, err, got.Text)
	}
	c.known(method+" "+path, content[typ].(map[string]any)["schema"].(map[string]any), body)
}

// known reports fields that the description does not have.
func (c *contract) known(what string, schema map[string]any, v any) {
	c.t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		schema = c.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	switch v := v.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		if properties == nil || schema["additionalProperties"] == true {
			return
		}
		for name, value := range v {
			of, ok := properties[name].(map[string]any)
			if !ok && name != "errors" && name != "meta" {
				c.t.Errorf("%s: field %s is not described", what, name)
				continue
			}
			c.known(what, of, value)
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for _, item := range v {
			c.known(what, items, item)
		}
	}
}

func pointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "%", "%25").Replace(s)
}

// account sets what a user's account is.
func account(t *testing.T, s *resttest.Server, name, typ, role string, team int64) {
	t.Helper()
	err := s.Repo.Update(context.Background(), s.Repo.System(), func(tx *storage.Tx) error {
		u, err := people.Lookup(tx, name)
		if err != nil {
			return err
		}
		if team != 0 {
			group := fmt.Sprintf("team-%d", team)
			if err := people.SaveGroup(tx, &people.Group{Name: group, Users: []string{name}}); err != nil {
				return err
			}
			u.Groups = append(u.Groups, group)
		}
		u.AccountType, u.TeamRole, u.TeamID = typ, role, team
		return people.SaveUser(tx, u, "")
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestContract replays every endpoint of the specification in each revision and compares the
// answers with the description served for it: statuses, fields and their types, and no more.
func TestContract(t *testing.T) {
	for _, revision := range []string{"A", "B", "union"} {
		t.Run(revision, func(t *testing.T) {
			s := startDecks(t, -1)
			account(t, s, "alice", "team", "owner", 1)
			key := s.Key("alice", "read_write")
			c := readContract(t, s, map[string]string{"A": "/openapi-a.json", "B": "/openapi-b.json", "union": "/openapi.json"}[revision])
			html := map[string]string{"A": "deck_html", "B": "data", "union": "data"}[revision]
			for _, step := range []struct{ method, path, of, body string }{
				{"GET", "/v1/user", "/v1/user", ""},
				{"GET", "/v1/decks", "/v1/decks", ""},
				{"POST", "/v1/decks", "/v1/decks", `{}`},
				{"POST", "/v1/decks", "/v1/decks", `{"title":"T","description":"d","width":1,"height":1,"visibility":"team","` + html + `":"<section>x</section>"}`},
				{"POST", "/v1/decks", "/v1/decks", `{"visibility":"none"}`},
				{"GET", "/v1/decks?page=1&per_page=100", "/v1/decks", ""},
				{"GET", "/v1/decks?per_page=101", "/v1/decks", ""},
				{"GET", "/v1/decks/1", "/v1/decks/{id}", ""},
				{"GET", "/v1/decks/1?include_deck_html=true", "/v1/decks/{id}", ""},
				{"GET", "/v1/decks/99", "/v1/decks/{id}", ""},
				{"PATCH", "/v1/decks/1", "/v1/decks/{id}", `{"title":"U"}`},
				{"PATCH", "/v1/decks/1", "/v1/decks/{id}", `{"width":0}`},
				{"GET", "/v1/decks/2/slides", "/v1/decks/{id}/slides", ""},
				{"POST", "/v1/decks/2/slides", "/v1/decks/{id}/slides", `{"html":"<section onclick='x'>y</section>","after":1,"below":true}`},
				{"POST", "/v1/decks/2/slides", "/v1/decks/{id}/slides", `{"html":"<p>y</p>"}`},
				{"POST", "/v1/decks/2/slides", "/v1/decks/{id}/slides", `{"source":"y"}`},
				{"GET", "/v1/decks/2/slides/2", "/v1/decks/{id}/slides/{slide}", ""},
				{"GET", "/v1/decks/2/slides/9", "/v1/decks/{id}/slides/{slide}", ""},
				{"PATCH", "/v1/decks/2/slides/2", "/v1/decks/{id}/slides/{slide}", `{"html":"<section>z</section>"}`},
				{"POST", "/v1/decks/2/slides/2/move", "/v1/decks/{id}/slides/{slide}/move", `{"after":0}`},
				{"POST", "/v1/decks/2/slides/2/move", "/v1/decks/{id}/slides/{slide}/move", `{"after":7}`},
				{"DELETE", "/v1/decks/2/slides/1", "/v1/decks/{id}/slides/{slide}", ""},
				{"GET", "/v1/decks/1/share", "/v1/decks/{deck_id}/share", ""},
				{"POST", "/v1/decks/1/share", "/v1/decks/{deck_id}/share", `{}`},
				{"POST", "/v1/decks/1/share", "/v1/decks/{deck_id}/share", `{"name":"n","password":"p","expires_at":"2999-01-01T00:00:00Z","notify_on_view":true}`},
				{"POST", "/v1/decks/1/share", "/v1/decks/{deck_id}/share", `{"expires_at":"tomorrow"}`},
				{"GET", "/v1/decks/1/share", "/v1/decks/{deck_id}/share", ""},
				{"DELETE", "/v1/decks/1/share/1", "/v1/decks/{deck_id}/share/{id}", ""},
				{"DELETE", "/v1/decks/1/share/1", "/v1/decks/{deck_id}/share/{id}", ""},
				{"GET", "/v1/team/decks", "/v1/team/decks", ""},
				{"GET", "/v1/team/decks/2", "/v1/team/decks/{id}", ""},
				{"GET", "/v1/team/decks/1", "/v1/team/decks/{id}", ""},
				{"POST", "/v1/decks/1/trash", "/v1/decks/{id}/trash", ""},
				{"POST", "/v1/decks/1/trash", "/v1/decks/{id}/trash", ""},
				{"GET", "/v1/decks/trashed", "/v1/decks/trashed", ""},
				{"POST", "/v1/decks/1/recover", "/v1/decks/{id}/recover", ""},
			} {
				if c.at("paths", step.of) == nil && (revision == "B" || strings.Contains(step.of, "/slides")) {
					continue // of revision A alone, or of neither
				}
				headers := bearer(key)
				if revision != "union" {
					headers = append(headers, "Deck-Revision", revision)
				}
				c.check(step.method, step.of, s.Do(step.method, step.path, step.body, headers...))
			}
		})
	}
}

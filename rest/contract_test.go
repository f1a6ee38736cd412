package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"catena/rest/resttest"
	"catena/storage"
)

// contract is a description of the service, and what its answers are checked with.
type contract struct {
	t        *testing.T
	doc      map[string]any
	compiler *jsonschema.Compiler
}

func readContract(t *testing.T, s *resttest.Server, path string) *contract {
	t.Helper()
	c := &contract{t: t, doc: s.Do("GET", path, "", "as", "").JSON(t), compiler: jsonschema.NewCompiler()}
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
	response, ok := responses[fmt.Sprint(got.StatusCode)].(map[string]any)
	if !ok {
		c.t.Errorf("%s %s: status %s is not described: %s", method, path, got.Status, got.Text)
		return
	}
	content, _ := response["content"].(map[string]any)
	if content == nil {
		if got.Text != "" {
			c.t.Errorf("%s %s: body %s", method, path, got.Text)
		}
		return
	}
	typ := got.Header.Get("Content-Type")
	if content[typ] == nil {
		c.t.Errorf("%s %s: type %s is not described", method, path, typ)
		return
	}
	place := "api.json#/paths/" + pointer(path) + "/" + strings.ToLower(method) + "/responses/" + fmt.Sprint(got.StatusCode) + "/content/" + pointer(typ) + "/schema"
	schema, err := c.compiler.Compile(place)
	if err != nil {
		c.t.Fatal(err)
	}
	body := got.JSON(c.t)
	if err := schema.Validate(body); err != nil {
		c.t.Errorf("%s %s: %v\n%s", method, path, err, got.Text)
	}
	c.known(method+" "+path, content[typ].(map[string]any)["schema"].(map[string]any), body)
}

// known reports fields that the description does not have.
func (c *contract) known(what string, schema map[string]any, v any) {
	if ref, ok := schema["$ref"].(string); ok {
		schema = c.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	switch v := v.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		if properties == nil {
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
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(s)
}

// account sets what a user's account is.
func account(t *testing.T, s *resttest.Server, name, typ, role string, team int64) {
	t.Helper()
	err := s.Repo.Update(context.Background(), s.Repo.System(), func(tx *storage.Tx) error {
		u, err := tx.User(name)
		if err != nil {
			return err
		}
		if team != 0 {
			group := fmt.Sprintf("team-%d", team)
			if err := tx.SaveGroup(&storage.Group{Name: group, Users: []string{name}}); err != nil {
				return err
			}
			u.Groups = append(u.Groups, group)
		}
		u.AccountType, u.TeamRole, u.TeamID = typ, role, team
		return tx.SaveUser(u, "")
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
				if c.at("paths", step.of) == nil && revision == "B" {
					continue // of revision A alone
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

// TestContractValues checks the specification's defaults and bounds, and the order of lists.
func TestContractValues(t *testing.T) {
	s := startDecks(t, -1)
	account(t, s, "alice", "pro", "", 0)
	s.User("bob")
	write, read, other := s.Key("alice", "read_write"), s.Key("alice", "read_only"), s.Key("bob", "read_write")
	made := s.Do("POST", "/v1/decks", "", bearer(write)...).JSON(t)["data"].(map[string]any)
	for field, want := range map[string]any{
		"title": "deck", "description": "", "visibility": "self", "width": 960.0, "height": 700.0, "margin": 0.05, "slide_count": 0.0,
		"transition": "slide", "background_transition": "slide", "rtl": false, "loop": false, "theme_font": "montserrat",
		"theme_color": "white-blue", "language": "en", "notes": "", "data": "", "deck_html": "", "css": "",
	} {
		if made[field] != want {
			t.Errorf("default of %s: %v, want %v", field, made[field], want)
		}
	}
	link := s.Do("POST", "/v1/decks/1/share", `{}`, bearer(write)...).JSON(t)["data"].(map[string]any)
	for field, want := range map[string]any{
		"name": "API Link", "password_protected": false, "expires_at": nil, "expired": false, "notify_on_view": false, "view_count": 0.0, "first_viewed_at": nil,
	} {
		if link[field] != want {
			t.Errorf("default of a link's %s: %v, want %v", field, link[field], want)
		}
	}
	tests := []struct {
		key, method, path, body string
		status                  int
		code, at                string
	}{
		{write, "GET", "/v1/decks?page=0", "", 422, "out_of_range", "page"},
		{write, "GET", "/v1/decks?page=x", "", 422, "", "page"},
		{write, "GET", "/v1/decks/trashed?per_page=0", "", 422, "out_of_range", "per_page"},
		{write, "GET", "/v1/decks/1?include_deck_html=maybe", "", 422, "", "include_deck_html"},
		{write, "POST", "/v1/decks", `{"width":0}`, 422, "too_small", "#/width"},
		{write, "POST", "/v1/decks", `{"visibility":"team"}`, 403, "plan_required", "#/visibility"},
		{write, "POST", "/v1/decks", `{"css":"x"}`, 422, "read_only_field", "#/css"},
		{write, "POST", "/v1/decks", `{"titel":"x"}`, 422, "unknown_field", "#/titel"},
		{write, "POST", "/v1/decks", `{"data":"<section>a</section>","deck_html":"<section>b</section>"}`, 422, "conflicting_fields", "#/data"},
		{write, "POST", "/v1/decks", `{"data":"<p>a</p>"}`, 422, "invalid_html", "#/data"},
		{write, "POST", "/v1/decks", `{"title":"` + strings.Repeat("x", 201) + `"}`, 422, "too_long", "#/title"},
		{write, "POST", "/v1/decks", `{"title":`, 400, "", ""},
		{read, "POST", "/v1/decks", `{}`, 403, "insufficient_scope", ""},
		{read, "PATCH", "/v1/decks/1", `{}`, 403, "insufficient_scope", ""},
		{read, "POST", "/v1/decks/1/trash", ``, 403, "insufficient_scope", ""},
		{read, "POST", "/v1/decks/1/recover", ``, 403, "insufficient_scope", ""},
		{read, "POST", "/v1/decks/1/share", `{}`, 403, "insufficient_scope", ""},
		{read, "DELETE", "/v1/decks/1/share/1", ``, 403, "insufficient_scope", ""},
		{other, "GET", "/v1/decks/1", "", 404, "", ""},
		{other, "GET", "/v1/decks/1/share", "", 403, "plan_required", ""},
		{write, "GET", "/v1/team/decks", "", 403, "team_role_required", ""},
		{write, "POST", "/v1/decks/1/share", `{"expires_at":"2020-01-01T00:00:00Z"}`, 422, "out_of_range", "#/expires_at"},
		{write, "POST", "/v1/decks/1/share", `{"view_count":1}`, 422, "read_only_field", "#/view_count"},
		{write, "GET", "/v1/decks/x", "", 404, "", ""},
		{write, "PUT", "/v1/decks/1", "{}", 405, "method_not_allowed", ""},
		{write, "GET", "/v1/decks?revision=c", "", 400, "unknown_revision", "revision"},
		{"", "GET", "/v1/decks", "", 401, "", ""},
	}
	for _, test := range tests {
		headers := bearer(test.key)
		if test.key == "" {
			headers = []string{"as", ""}
		}
		got := s.Do(test.method, test.path, test.body, headers...)
		var p struct {
			Code   string
			Errors []struct{ Pointer, Parameter, Code string }
		}
		if err := json.Unmarshal([]byte(got.Text), &p); err != nil {
			t.Errorf("%s %s: %s %s", test.method, test.path, got.Status, got.Text)
			continue
		}
		codes, at := []string{p.Code}, ""
		if len(p.Errors) > 0 {
			codes, at = append(codes, p.Errors[0].Code), p.Errors[0].Pointer+p.Errors[0].Parameter
		}
		if got.StatusCode != test.status || test.code != "" && !slices.Contains(codes, test.code) || at != test.at {
			t.Errorf("%s %s %.40s: %s %v at %q, want %d %s at %q", test.method, test.path, test.body, got.Status, codes, at, test.status, test.code, test.at)
		}
	}
	for range 99 {
		if got := s.Do("POST", "/v1/decks/1/share", `{}`, bearer(write)...); got.StatusCode != http.StatusCreated {
			t.Fatalf("link: %s %s", got.Status, got.Text)
		}
	}
	if got := s.Do("POST", "/v1/decks/1/share", `{}`, bearer(write)...); got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.Text, "too_many_links") {
		t.Errorf("link 101: %s %s", got.Status, got.Text)
	}
	all := s.Do("GET", "/v1/decks/1/share", "", bearer(write)...).JSON(t)
	if first := all["data"].([]any)[0].(map[string]any); first["id"] != 100.0 || fmt.Sprint(all["meta"]) != "map[total:100]" {
		t.Errorf("links: first %v, %v", first["id"], all["meta"])
	}
}

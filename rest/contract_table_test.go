package rest_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"catena/rest/resttest"
	"catena/storage"
)

// specified is a server with people of every kind of account that the specification tells of.
type specified struct {
	*resttest.Server
	t    *testing.T
	keys map[string]string
}

func specify(t *testing.T) *specified {
	t.Helper()
	s := &specified{startDecks(t, -1), t, map[string]string{}}
	for _, name := range []string{"free", "pro", "lead", "member"} {
		s.User(name)
	}
	account(t, s.Server, "pro", "pro", "", 0)
	for name, role := range map[string]string{"lead": "owner", "member": "member"} {
		account(t, s.Server, name, "team", role, 1)
	}
	err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
		return tx.SaveGroup(&storage.Group{Name: "team-1", Users: []string{"lead", "member"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"alice", "free", "pro", "lead", "member"} {
		s.keys[name] = s.Key(name, "read_write")
		s.keys[name+"/read"] = s.Key(name, "read_only")
	}
	return s
}

// ask sends a request for a user; the revision stands behind a colon, a key that only reads
// behind a slash.
func (s *specified) ask(who, method, path, body string) *resttest.Answer {
	s.t.Helper()
	name, revision, _ := strings.Cut(who, ":")
	headers := []string{"as", ""}
	if name != "" {
		headers = bearer(s.keys[name])
	}
	if revision != "" {
		headers = append(headers, "Deck-Revision", revision)
	}
	return s.Do(method, path, body, headers...)
}

// data asks for something that is there.
func (s *specified) data(who, method, path, body string) map[string]any {
	s.t.Helper()
	got := s.ask(who, method, path, body)
	if got.StatusCode >= 300 {
		s.t.Fatalf("%s %s %s: %s %s", who, method, path, got.Status, got.Text)
	}
	m, _ := got.JSON(s.t)["data"].(map[string]any)
	return m
}

// refusal is a row of a table: what is asked for, the status, and the code and place of what is
// wrong.
type refusal struct {
	who, method, path, body string
	status                  int
	code, at                string
}

func (s *specified) refuses(rows []refusal) {
	s.t.Helper()
	for _, row := range rows {
		got := s.ask(row.who, row.method, row.path, row.body)
		var p struct {
			Code   string
			Errors []struct{ Pointer, Parameter, Code string }
		}
		_ = json.Unmarshal([]byte(got.Text), &p) // what is no problem has no code
		found := row.at == "" && (row.code == "" || p.Code == row.code)
		for _, e := range p.Errors {
			found = found || e.Pointer+e.Parameter == row.at && (row.code == "" || e.Code == row.code)
		}
		if got.StatusCode != row.status || row.status >= 400 && !found {
			s.t.Errorf("%s %s %s %.60s: %s %.200s, want %d %s at %q", row.who, row.method, row.path, row.body, got.Status, got.Text, row.status, row.code, row.at)
		}
	}
}

// TestTableFields checks the tables of fields: their presence and types in each revision.
func TestTableFields(t *testing.T) {
	s := specify(t)
	instant := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	user := s.data("lead", "GET", "/v1/user", "")
	for field, want := range map[string]any{"username": "lead", "twitter_handle": "", "website_url": "", "description": ""} {
		if user[field] != want {
			t.Errorf("user's %s: %v", field, user[field])
		}
	}
	if members(user["account"]) != "billing_period type" || members(user["team"]) != "id name role slug thumbnail_url url" {
		t.Errorf("account %v, team %v", user["account"], user["team"])
	}
	if alone := s.data("free", "GET", "/v1/user", ""); alone["team"] != nil || alone["account"].(map[string]any)["type"] != "free" {
		t.Errorf("user without a team: %v", alone)
	}
	deck := s.data("lead", "POST", "/v1/decks", `{"title":"T","visibility":"team","data":"<section>x</section>"}`)
	for _, field := range []string{"created_at", "updated_at"} {
		if !instant.MatchString(fmt.Sprint(deck[field])) {
			t.Errorf("%s: %v", field, deck[field])
		}
	}
	if members(deck["urls"]) != "default edit fullscreen present" || !strings.HasPrefix(fmt.Sprint(deck["url"]), s.URL) {
		t.Errorf("addresses: %v %v", deck["url"], deck["urls"])
	}
	const aTeam = "description id owner thumbnail_url title url visibility"
	for _, test := range []struct{ who, path, want string }{
		{"lead:A", "/v1/team/decks", aTeam},
		{"lead", "/v1/team/decks", aTeam},
		{"lead:A", "/v1/decks", "description id thumbnail_url title url"},
		{"lead:B", "/v1/decks", "description id title url"},
	} {
		list := s.ask(test.who, "GET", test.path, "").JSON(t)
		first := list["data"].([]any)[0]
		if members(first) != test.want || members(list["meta"]) != "page per_page total" {
			t.Errorf("%s %s: %v %v", test.who, test.path, first, list["meta"])
		}
	}
	team := s.data("lead:A", "GET", "/v1/team/decks/1", "")
	if members(team["owner"]) != "id name username" || team["deck_html"] != nil {
		t.Errorf("team's deck: %v", team)
	}
	if with := s.data("lead:A", "GET", "/v1/team/decks/1?include_deck_html=true", ""); with["deck_html"] != "<section>x</section>" {
		t.Errorf("team's deck with HTML: %v", with)
	}
	s.ask("lead", "POST", "/v1/decks/1/trash", "")
	gone := s.ask("lead:A", "GET", "/v1/decks/trashed", "").JSON(t)["data"].([]any)[0].(map[string]any)
	if members(gone) != "description id thumbnail_url title trashed_at" || !instant.MatchString(fmt.Sprint(gone["trashed_at"])) {
		t.Errorf("trashed: %v", gone)
	}
}

// TestTableInputs checks the tables of parameters and bodies: types, defaults and bounds.
func TestTableInputs(t *testing.T) {
	s := specify(t)
	s.data("alice", "POST", "/v1/decks", `{"title":"T","description":"d","width":800,"height":600,"visibility":"self","data":"<section>x</section>"}`)
	var rows []refusal
	for _, list := range []string{"/v1/decks", "/v1/decks/trashed", "/v1/team/decks"} {
		for _, q := range []string{"page=0", "page=-1", "page=x", "page=1.5", "per_page=0", "per_page=101", "per_page="} {
			at, _, _ := strings.Cut(q, "=")
			rows = append(rows, refusal{"lead", "GET", list + "?" + q, "", 422, "", at})
		}
		rows = append(rows, refusal{"lead", "GET", list + "?page=9&per_page=100", "", 200, "", ""})
		if meta := s.ask("lead", "GET", list, "").JSON(t)["meta"]; fmt.Sprint(meta) != "map[page:1 per_page:20 total:0]" {
			t.Errorf("%s: %v", list, meta)
		}
	}
	for value, status := range map[string]int{"true": 200, "1": 200, "false": 200, "0": 200, "yes": 422, "": 422} {
		rows = append(rows, refusal{"alice", "GET", "/v1/decks/1?include_deck_html=" + value, "", status, "", "include_deck_html"})
	}
	for _, in := range []struct {
		field, value, code string
		status             int
	}{
		{"title", `""`, "too_short", 422},
		{"title", `7`, "invalid_type", 422},
		{"title", `null`, "", 422},
		{"title", `"` + strings.Repeat("é", 200) + `"`, "", 0},
		{"title", `"` + strings.Repeat("é", 201) + `"`, "too_long", 422},
		{"description", `7`, "invalid_type", 422},
		{"width", `0`, "too_small", 422},
		{"width", `-1`, "too_small", 422},
		{"width", `1.5`, "", 422},
		{"width", `"9"`, "invalid_type", 422},
		{"width", `1`, "", 0},
		{"height", `0`, "too_small", 422},
		{"height", `1`, "", 0},
		{"visibility", `"team"`, "plan_required", 403},
		{"visibility", `"public"`, "", 422},
		{"visibility", `"all"`, "", 0},
		{"visibility", `"self"`, "", 0},
		{"data", `"<p>x</p>"`, "invalid_html", 422},
		{"data", `"x<section></section>"`, "invalid_html", 422},
		{"deck_html", `"<div><section></section></div>"`, "invalid_html", 422},
		{"deck_html", `7`, "invalid_type", 422},
		{"data", `"<section>a</section><section>b</section>"`, "", 0},
	} {
		body := `{"` + in.field + `":` + in.value + `}`
		for method, path := range map[string]string{"POST": "/v1/decks", "PATCH": "/v1/decks/1"} {
			status := in.status
			if status == 0 {
				status = map[string]int{"POST": 201, "PATCH": 200}[method]
			}
			rows = append(rows, refusal{"alice", method, path, body, status, in.code, "#/" + in.field})
		}
	}
	for field := range strings.FieldsSeq("id url urls slug slide_count notes css css_input css_output thumbnail_url created_at updated_at owner") {
		rows = append(rows, refusal{"alice", "PATCH", "/v1/decks/1", `{"` + field + `":"x"}`, 422, "", "#/" + field})
	}
	s.refuses(rows)
	for _, change := range []struct{ field, value string }{
		{"title", `"New"`}, {"description", `"new"`}, {"width", `1280`}, {"height", `720`}, {"visibility", `"all"`}, {"data", `"<section>y</section>"`},
	} {
		before := s.data("alice:B", "GET", "/v1/decks/1", "")
		after := s.data("alice:B", "PATCH", "/v1/decks/1", `{"`+change.field+`":`+change.value+`}`)
		for field, was := range before {
			if field != change.field && field != "updated_at" && (change.field != "data" || field != "slide_count") && fmt.Sprint(after[field]) != fmt.Sprint(was) {
				t.Errorf("a new %s changes %s from %v to %v", change.field, field, was, after[field])
			}
		}
		if want, _ := json.Marshal(after[change.field]); string(want) != change.value && change.field != "data" {
			t.Errorf("%s: %s, want %s", change.field, want, change.value)
		}
	}
}

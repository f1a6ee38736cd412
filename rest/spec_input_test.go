package rest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// refusal is a row of a table: what is asked for, the status, and the code and place of what is
// wrong.
type refusal struct {
	who, method, path, body string
	status                  int
	code, at                string
}

func (s *described) refuses(rows []refusal) {
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

// TestSpecQueries checks the table of query parameters: their defaults, bounds and types.
func TestSpecQueries(t *testing.T) {
	s := describe(t)
	s.fill()
	var rows []refusal
	for _, revision := range revisions {
		lead := "lead:" + revision
		for _, list := range []string{"/v1/decks", "/v1/decks/trashed", "/v1/team/decks"} {
			for _, q := range []string{"page=0", "page=-1", "page=x", "page=1.5", "page=", "per_page=0", "per_page=-1", "per_page=101", "per_page=x", "per_page="} {
				at, _, _ := strings.Cut(q, "=")
				rows = append(rows, refusal{lead, "GET", list + "?" + q, "", 422, "", at})
			}
			total := len(s.ask(lead, "GET", list, "").JSON(t)["data"].([]any))
			for query, want := range map[string]string{"": "1 20", "?page=1&per_page=1": "1 1", "?per_page=100": "1 100", "?page=9": "9 20"} {
				page, size, _ := strings.Cut(want, " ")
				if meta := s.ask(lead, "GET", list+query, "").JSON(t)["meta"]; fmt.Sprint(meta) != fmt.Sprintf("map[page:%s per_page:%s total:%d]", page, size, total) {
					t.Errorf("%s%s: %v", list, query, meta)
				}
			}
		}
		for _, path := range []string{"/v1/decks/1", "/v1/team/decks/1"} {
			for value, shown := range map[string]bool{"true": true, "1": true, "false": false, "0": false} {
				_, there := s.data(lead, "GET", path+"?include_deck_html="+value, "")["deck_html"]
				if there != (shown && revision != "B") {
					t.Errorf("%s in revision %q with include_deck_html=%s: HTML %t", path, revision, value, there)
				}
			}
			for _, value := range []string{"yes", "", "2"} {
				rows = append(rows, refusal{lead, "GET", path + "?include_deck_html=" + value, "", 422, "", "include_deck_html"})
			}
		}
	}
	rows = append(rows, refusal{"lead", "GET", "/v1/decks?revision=c", "", 400, "unknown_revision", "revision"}, refusal{"lead:C", "GET", "/v1/decks", "", 400, "unknown_revision", "revision"})
	s.refuses(rows)
}

// TestSpecInputs checks the table of what decks are made of: types, defaults and bounds, on
// create and on update, in each revision. Defaults are what TestSpecValues finds.
func TestSpecInputs(t *testing.T) {
	s := describe(t)
	s.data("pro", "POST", "/v1/decks", `{"title":"T","description":"d","width":800,"height":600,"visibility":"self","data":"<section>x</section>"}`)
	var rows []refusal
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
		{"description", `""`, "", 0},
		{"css", `"x"`, "read_only_field", 422},
		{"titel", `"x"`, "unknown_field", 422},
	} {
		body := `{"` + in.field + `":` + in.value + `}`
		for method, path := range map[string]string{"POST": "/v1/decks", "PATCH": "/v1/decks/1"} {
			status := in.status
			if status == 0 {
				status = map[string]int{"POST": 201, "PATCH": 200}[method]
			}
			for _, revision := range revisions {
				rows = append(rows, refusal{"pro:" + revision, method, path, body, status, in.code, "#/" + in.field})
			}
		}
	}
	for field := range strings.FieldsSeq("id url urls slug slide_count notes css css_input css_output thumbnail_url created_at updated_at owner") {
		rows = append(rows, refusal{"pro", "PATCH", "/v1/decks/1", `{"` + field + `":"x"}`, 422, "", "#/" + field})
	}
	for who, status := range map[string]int{"free": 403, "lite": 403, "pro": 403, "member": 201, "admin": 201, "lead": 201} {
		rows = append(rows, refusal{who, "POST", "/v1/decks", `{"visibility":"team"}`, status, "", map[bool]string{true: "#/visibility"}[status == 403]})
	}
	rows = append(rows,
		refusal{"pro", "POST", "/v1/decks", `{"data":"<section>a</section>","deck_html":"<section>b</section>"}`, 422, "conflicting_fields", "#/data"},
		refusal{"pro", "POST", "/v1/decks", `{"data":"<section>a</section>","deck_html":"<section>a</section>"}`, 201, "", ""},
		refusal{"pro", "POST", "/v1/decks", `{"title":`, 400, "malformed_json", ""},
		refusal{"pro", "POST", "/v1/decks", `[]`, 400, "malformed_json", ""},
		refusal{"pro", "PUT", "/v1/decks/1", `{}`, 405, "method_not_allowed", ""},
	)
	s.refuses(rows)
	for _, change := range []struct{ field, value string }{
		{"title", `"New"`}, {"description", `"new"`}, {"width", `1280`}, {"height", `720`}, {"visibility", `"all"`}, {"data", `"<section>y</section>"`},
	} {
		before := s.data("pro:B", "GET", "/v1/decks/1", "")
		after := s.data("pro:B", "PATCH", "/v1/decks/1", `{"`+change.field+`":`+change.value+`}`)
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

package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"catena/decks/export"
)

// TestSpecStates checks the states of decks and the order of lists.
func TestSpecStates(t *testing.T) {
	s := describe(t)
	for range 3 {
		s.data("pro", "POST", "/v1/decks", `{}`)
	}
	ids := func(path string) string {
		var out []any
		for _, item := range s.ask("pro", "GET", path, "").JSON(t)["data"].([]any) {
			out = append(out, item.(map[string]any)["id"])
		}
		return fmt.Sprint(out)
	}
	for _, step := range []struct {
		method, path    string
		status          int
		active, trashed string
	}{
		{"GET", "/v1/decks", 200, "[3 2 1]", "[]"},
		{"POST", "/v1/decks/3/trash", 204, "[2 1]", "[3]"},
		{"POST", "/v1/decks/1/trash", 204, "[2]", "[1 3]"},
		{"POST", "/v1/decks/1/trash", 204, "[2]", "[1 3]"},
		{"GET", "/v1/decks/1", 404, "[2]", "[1 3]"},
		{"PATCH", "/v1/decks/1", 404, "[2]", "[1 3]"},
		{"POST", "/v1/decks/1/exports", 404, "[2]", "[1 3]"},
		{"POST", "/v1/decks/3/recover", 204, "[3 2]", "[1]"},
		{"POST", "/v1/decks/3/recover", 204, "[3 2]", "[1]"},
		{"POST", "/v1/decks/9/recover", 404, "[3 2]", "[1]"},
		{"POST", "/v1/decks/9/trash", 404, "[3 2]", "[1]"},
	} {
		s.skip.Add(int64(time.Second))
		got := s.ask("pro", step.method, step.path, map[string]string{"PATCH": "{}", "POST": `{"format":"zip"}`}[step.method])
		if got.StatusCode != step.status || step.status == http.StatusNoContent && got.Text != "" {
			t.Errorf("%s %s: %s %s", step.method, step.path, got.Status, got.Text)
		}
		if active, trashed := ids("/v1/decks"), ids("/v1/decks/trashed"); active != step.active || trashed != step.trashed && strings.Trim(trashed, "[]") != strings.Trim(step.trashed, "[]") {
			t.Errorf("%s %s: %s and %s, want %s and %s", step.method, step.path, active, trashed, step.active, step.trashed)
		}
	}
}

// TestSpecShare checks the table of private links.
func TestSpecShare(t *testing.T) {
	s := describe(t)
	s.data("lead", "POST", "/v1/decks", `{"visibility":"team"}`)
	s.data("lead", "POST", "/v1/decks", `{"visibility":"all"}`)
	s.data("lead", "POST", "/v1/decks", `{}`)
	made := s.data("lead", "POST", "/v1/decks/3/share", `{"name":"N","password":"open sesame","expires_at":"2999-01-01T00:00:00+01:00","notify_on_view":true}`)
	for field, want := range map[string]any{
		"deck_id": 3.0, "name": "N", "password_protected": true, "expires_at": "2998-12-31T23:00:00.000Z", "expired": false,
		"notify_on_view": true, "view_count": 0.0, "first_viewed_at": nil,
	} {
		if made[field] != want {
			t.Errorf("%s: %v, want %v", field, made[field], want)
		}
	}
	if members(made["urls"]) != "default fullscreen" || members(made) != "created_at deck_id expired expires_at first_viewed_at id name notify_on_view password_protected url urls view_count" {
		t.Errorf("link: %v", made)
	}
	open := s.data("lead", "POST", "/v1/decks/3/share", `{"expires_at":null}`)
	if open["expires_at"] != nil || open["name"] != "API Link" {
		t.Errorf("link: %v", open)
	}
	s.must(s.view(open, ""))
	list := s.ask("lead", "GET", "/v1/decks/3/share", "")
	first := list.JSON(t)["data"].([]any)[0].(map[string]any)
	if first["id"] != open["id"] || first["view_count"] != 1.0 || first["first_viewed_at"] == nil || members(list.JSON(t)["meta"]) != "total" || strings.Contains(list.Text, "sesame") {
		t.Errorf("links: %s", list.Text)
	}
	s.refuses([]refusal{
		{"lead", "POST", "/v1/decks/1/share", `{}`, 201, "", ""},
		{"lead", "POST", "/v1/decks/2/share", `{}`, 409, "deck_is_public", ""},
		{"lead", "POST", "/v1/decks/3/share", `{"name":""}`, 422, "too_short", "#/name"},
		{"lead", "POST", "/v1/decks/3/share", `{"name":7}`, 422, "invalid_type", "#/name"},
		{"lead", "POST", "/v1/decks/3/share", `{"password":7}`, 422, "invalid_type", "#/password"},
		{"lead", "POST", "/v1/decks/3/share", `{"notify_on_view":"yes"}`, 422, "invalid_type", "#/notify_on_view"},
		{"lead", "POST", "/v1/decks/3/share", `{"expires_at":"2999-01-01T00:00:00"}`, 422, "", "#/expires_at"},
		{"lead", "POST", "/v1/decks/3/share", `{"expires_at":"2001-01-01T00:00:00Z"}`, 422, "out_of_range", "#/expires_at"},
		{"lead", "POST", "/v1/decks/3/share", `{"url":"x"}`, 422, "read_only_field", "#/url"},
		{"lead", "POST", "/v1/decks/3/share", `{"pass":"x"}`, 422, "unknown_field", "#/pass"},
		{"lead", "DELETE", fmt.Sprintf("/v1/decks/1/share/%v", open["id"]), "", 404, "", ""},
		{"lead", "DELETE", fmt.Sprintf("/v1/decks/3/share/%v", open["id"]), "", 204, "", ""},
		{"lead", "DELETE", fmt.Sprintf("/v1/decks/3/share/%v", open["id"]), "", 404, "", ""},
	})
}

// TestSpecExpiry moves the clock over the end of a private link: it is listed as expired,
// counts, and can be revoked, but opens nothing, with or without its password.
func TestSpecExpiry(t *testing.T) {
	s := describe(t)
	s.data("pro", "POST", "/v1/decks", `{"title":"Secret plans","data":"<section>x</section>"}`)
	open := s.data("pro", "POST", "/v1/decks/1/share", `{"expires_at":"2026-02-03T05:05:06.007Z"}`)
	locked := s.data("pro", "POST", "/v1/decks/1/share", `{"expires_at":"2026-02-03T05:05:06.007Z","password":"sesame"}`)
	for _, at := range []struct {
		skip    time.Duration
		expired bool
		status  int
	}{
		{0, false, 200},
		{time.Hour - time.Millisecond, false, 200},
		{time.Hour, true, 410},
		{30 * 24 * time.Hour, true, 410},
	} {
		s.skip.Store(int64(at.skip))
		list := s.must(s.ask("pro", "GET", "/v1/decks/1/share", "")).JSON(t)
		for _, l := range list["data"].([]any) {
			if l.(map[string]any)["expired"] != at.expired || fmt.Sprint(list["meta"]) != "map[total:2]" {
				t.Errorf("after %s: %v", at.skip, list)
			}
		}
		for link, password := range map[any]string{&open: "", &locked: "sesame"} {
			got := s.view(*link.(*map[string]any), password)
			if got.StatusCode != at.status || strings.Contains(got.Text, "Secret plans") != (at.status == 200) {
				t.Errorf("after %s with password %q: %s", at.skip, password, got.Status)
			}
			path := strings.TrimPrefix((*link.(*map[string]any))["url"].(string), s.URL)
			for _, below := range []string{"/fullscreen", "/live", "/thumbnail"} {
				if !at.expired {
					continue
				}
				if got := s.Do("GET", path+below, "", "as", ""); got.StatusCode < 400 || strings.Contains(got.Text, "Secret plans") {
					t.Errorf("after %s: %s is %s", at.skip, below, got.Status)
				}
			}
		}
	}
	s.refuses([]refusal{
		{"pro", "DELETE", "/v1/decks/1/share/1", "", 204, "", ""},
		{"pro", "DELETE", "/v1/decks/1/share/2", "", 204, "", ""},
	})
	if got := s.view(open, ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("revoked: %s", got.Status)
	}
}

// TestSpecExports checks the table of what exports are made of.
func TestSpecExports(t *testing.T) {
	s := describe(t)
	s.data("lead", "POST", "/v1/decks", `{"data":"<section>x</section>"}`)
	const path = "/v1/decks/1/exports"
	var rows []refusal
	for _, in := range []struct{ body, code, at string }{
		{`{}`, "required", "#/format"},
		{`{"format":"ppt"}`, "invalid_value", "#/format"},
		{`{"format":""}`, "invalid_value", "#/format"},
		{`{"format":7}`, "invalid_type", "#/format"},
		{`{"format":null}`, "", "#/format"},
		{`{"format":"pdf","margin":-0.01}`, "out_of_range", "#/margin"},
		{`{"format":"pdf","margin":0.21}`, "out_of_range", "#/margin"},
		{`{"format":"pdf","margin":"0"}`, "invalid_type", "#/margin"},
		{`{"format":"pdf","slide_number":1}`, "invalid_type", "#/slide_number"},
		{`{"format":"pdf","slide_notes":"x"}`, "invalid_type", "#/slide_notes"},
		{`{"format":"pdf","separate_fragments":null}`, "invalid_type", "#/separate_fragments"},
		{`{"format":"pdf","quality":1}`, "unknown_field", "#/quality"},
	} {
		rows = append(rows, refusal{"lead", "POST", path, in.body, 422, in.code, in.at})
	}
	s.refuses(append(rows, refusal{"lead", "GET", path + "/9", "", 404, "", ""}))
	for id, body := range []string{
		`{"format":"pdf","margin":0,"slide_number":false,"slide_notes":false,"separate_fragments":false}`,
		`{"format":"pdf","margin":0.2,"slide_number":true,"slide_notes":true,"separate_fragments":true}`, `{"format":"zip"}`, `{"format":"zip","margin":0.2}`,
	} {
		got := s.ask("lead", "POST", path, body)
		if got.StatusCode != http.StatusAccepted || got.Header.Get("Location") != fmt.Sprintf("%s%s/%d", s.URL, path, id+1) {
			t.Errorf("%s: %s %s", body, got.Status, got.Text)
		}
	}
}

// TestSpecLimits reaches the limits: of links, of exports, and the rate that reading exports
// has with everything else.
func TestSpecLimits(t *testing.T) {
	s := describe(t)
	for range 2 {
		s.data("pro", "POST", "/v1/decks", `{}`)
	}
	for i := range 101 {
		got := s.ask("pro", "POST", "/v1/decks/1/share", `{}`)
		if want := map[bool]string{false: "201", true: "422 too_many_links"}[i == 100]; status(got) != want {
			t.Fatalf("link %d: %s", i+1, got.Text)
		}
	}
	all := s.ask("pro", "GET", "/v1/decks/1/share", "").JSON(t)
	if first := all["data"].([]any)[0].(map[string]any); first["id"] != 100.0 || fmt.Sprint(all["meta"]) != "map[total:100]" {
		t.Errorf("links: first %v, %v", first["id"], all["meta"])
	}
	s.data("pro", "POST", "/v1/decks/2/share", `{}`) // another deck has its own
	s.must(s.ask("pro", "DELETE", "/v1/decks/1/share/1", ""))
	s.data("pro", "POST", "/v1/decks/1/share", `{}`)
	for i := range export.Quota + 1 { // of all decks together
		got := s.ask("pro", "POST", fmt.Sprintf("/v1/decks/%d/exports", 1+i%2), `{"format":"zip"}`)
		if want := map[bool]string{false: "202", true: "429 export_quota"}[i == 10]; status(got) != want {
			t.Fatalf("export %d: %s", i+1, got.Text)
		}
		if i == 10 && got.Header.Get("Retry-After") != "3600" {
			t.Errorf("wait %q", got.Header.Get("Retry-After"))
		}
	}
	s.data("lead", "POST", "/v1/decks", `{}`)
	s.data("lead", "POST", "/v1/decks/3/exports", `{"format":"zip"}`) // others have their own
	s.skip.Store(int64(time.Hour - time.Millisecond))
	if got := status(s.ask("pro", "POST", "/v1/decks/1/exports", `{"format":"zip"}`)); got != "429 export_quota" {
		t.Errorf("just before an hour: %s", got)
	}
	s.skip.Store(int64(time.Hour))
	s.data("pro", "POST", "/v1/decks/1/exports", `{"format":"zip"}`)

	slow := startDecks(t, 4)
	key := bearer(slow.Key("alice", "read_write"))
	slow.Do("POST", "/v1/decks", `{}`, key...)
	slow.Do("POST", "/v1/decks/1/exports", `{"format":"zip"}`, key...)
	for _, want := range []string{"200", "200", "429 rate_limited"} {
		if got := status(slow.Do("GET", "/v1/decks/1/exports/1", "", key...)); got != want {
			t.Errorf("polled: %s, want %s", got, want)
		}
	}
}

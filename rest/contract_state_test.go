package rest_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"catena/decks/export"
	"catena/decks/render"
	"catena/storage/fault"
)

// TestTableAccess checks who may use which endpoint: no key, a key that only reads, an account
// or role that does not have it.
func TestTableAccess(t *testing.T) {
	s := specify(t)
	s.data("alice", "POST", "/v1/decks", `{}`)
	s.data("free", "POST", "/v1/decks", `{}`)
	s.data("pro", "POST", "/v1/decks", `{}`)
	link := s.data("pro", "POST", "/v1/decks/3/share", `{}`)
	var rows []refusal
	for _, e := range []struct{ method, path string }{
		{"GET", "/v1/user"},
		{"GET", "/v1/decks"},
		{"GET", "/v1/decks/trashed"},
		{"GET", "/v1/decks/3"},
		{"GET", "/v1/decks/3/share"},
		{"GET", "/v1/decks/3/exports/1"},
		{"GET", "/v1/team/decks"},
		{"GET", "/v1/team/decks/1"},
		{"POST", "/v1/decks"},
		{"PATCH", "/v1/decks/3"},
		{"POST", "/v1/decks/3/trash"},
		{"POST", "/v1/decks/3/recover"},
		{"POST", "/v1/decks/3/share"},
		{"DELETE", fmt.Sprintf("/v1/decks/3/share/%v", link["id"])},
		{"POST", "/v1/decks/3/exports"},
	} {
		body := map[string]string{"POST": `{}`, "PATCH": `{}`}[e.method]
		rows = append(rows, refusal{"", e.method, e.path, body, 401, "not_signed_in", ""})
		if e.method != "GET" {
			rows = append(rows, refusal{"pro/read", e.method, e.path, body, 403, "insufficient_scope", ""})
		}
		if strings.HasPrefix(e.path, "/v1/decks/3") {
			who, status := "lead", 404 // somebody else's deck does not exist
			if e.path == "/v1/decks/3/exports/1" {
				who = "alice"
			}
			if e.path == "/v1/decks/3/exports" {
				body = `{"format":"zip"}`
			}
			rows = append(rows, refusal{who, e.method, e.path, body, status, "", ""})
		}
	}
	for _, method := range []string{"GET", "POST"} {
		rows = append(rows, refusal{"free", method, "/v1/decks/2/share", map[string]string{"POST": "{}"}[method], 403, "plan_required", ""})
	}
	for _, who := range []string{"free", "pro", "member"} {
		rows = append(rows, refusal{who, "GET", "/v1/team/decks", "", 403, "team_role_required", ""}, refusal{who, "GET", "/v1/team/decks/1", "", 403, "team_role_required", ""})
	}
	for _, who := range []string{"pro", "lead"} {
		rows = append(rows, refusal{who + "/read", "GET", "/v1/decks", "", 200, "", ""})
	}
	rows = append(rows, refusal{"lead", "PATCH", "/v1/decks/1", `{}`, 404, "", ""}, refusal{"member", "POST", "/v1/decks", `{"visibility":"team"}`, 201, "", ""})
	s.refuses(rows)
}

// TestTableStates checks the states of decks and the order of lists.
func TestTableStates(t *testing.T) {
	s := specify(t)
	for range 3 {
		s.data("alice", "POST", "/v1/decks", `{}`)
	}
	ids := func(path string) string {
		var out []any
		for _, item := range s.ask("alice", "GET", path, "").JSON(t)["data"].([]any) {
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
		got := s.ask("alice", step.method, step.path, map[string]string{"PATCH": "{}", "POST": `{"format":"zip"}`}[step.method])
		if got.StatusCode != step.status || step.status == http.StatusNoContent && got.Text != "" {
			t.Errorf("%s %s: %s %s", step.method, step.path, got.Status, got.Text)
		}
		if active, trashed := ids("/v1/decks"), ids("/v1/decks/trashed"); active != step.active || trashed != step.trashed && strings.Trim(trashed, "[]") != strings.Trim(step.trashed, "[]") {
			t.Errorf("%s %s: %s and %s, want %s and %s", step.method, step.path, active, trashed, step.active, step.trashed)
		}
	}
}

// TestTableShare checks the table of private links.
func TestTableShare(t *testing.T) {
	s := specify(t)
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
	if got := s.Do("GET", strings.TrimPrefix(fmt.Sprint(open["url"]), s.URL), "", "as", "", "User-Agent", "Mozilla/5.0"); got.StatusCode != http.StatusOK {
		t.Errorf("viewed: %s", got.Status)
	}
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

// broken is a renderer without its browser.
type broken struct{}

func (broken) PDF(context.Context, *render.Deck, render.Options) ([]byte, error) {
	return nil, fault.Unavailable.Errorf("there is no browser").WithCode("renderer_unavailable")
}

// TestTableExports checks the table of exports: what may be asked for, and each state.
func TestTableExports(t *testing.T) {
	s := specify(t)
	s.data("alice", "POST", "/v1/decks", `{"data":"<section>x</section>"}`)
	s.refuses([]refusal{
		{"alice", "POST", "/v1/decks/1/exports", `{}`, 422, "required", "#/format"},
		{"alice", "POST", "/v1/decks/1/exports", `{"format":"ppt"}`, 422, "invalid_value", "#/format"},
		{"alice", "POST", "/v1/decks/1/exports", `{"format":7}`, 422, "invalid_type", "#/format"},
		{"alice", "POST", "/v1/decks/1/exports", `{"format":"pdf","margin":-0.01}`, 422, "out_of_range", "#/margin"},
		{"alice", "POST", "/v1/decks/1/exports", `{"format":"pdf","margin":0.21}`, 422, "out_of_range", "#/margin"},
		{"alice", "POST", "/v1/decks/1/exports", `{"format":"pdf","margin":"0"}`, 422, "invalid_type", "#/margin"},
		{"alice", "POST", "/v1/decks/1/exports", `{"format":"pdf","slide_number":1}`, 422, "invalid_type", "#/slide_number"},
		{"alice", "POST", "/v1/decks/1/exports", `{"format":"pdf","slide_notes":"x"}`, 422, "invalid_type", "#/slide_notes"},
		{"alice", "POST", "/v1/decks/1/exports", `{"format":"pdf","separate_fragments":null}`, 422, "invalid_type", "#/separate_fragments"},
		{"alice", "POST", "/v1/decks/1/exports", `{"format":"pdf","quality":1}`, 422, "unknown_field", "#/quality"},
		{"alice", "GET", "/v1/decks/1/exports/9", "", 404, "", ""},
	})
	for id, body := range []string{
		`{"format":"pdf","margin":0.2,"slide_number":true,"slide_notes":true,"separate_fragments":true}`, `{"format":"zip"}`,
	} {
		got := s.ask("alice", "POST", "/v1/decks/1/exports", body)
		e, _ := got.JSON(t)["data"].(map[string]any)
		if got.StatusCode != http.StatusAccepted || e["status"] != "pending" || e["completed_at"] != nil || e["download_url"] != nil || e["download_url_expires_at"] != nil ||
			fmt.Sprint(got.JSON(t)["meta"]) != "map[poll_after_seconds:2]" || got.Header.Get("Location") != fmt.Sprintf("%s/v1/decks/1/exports/%d", s.URL, id+1) {
			t.Errorf("started: %s %s", got.Status, got.Text)
		}
		if read := s.ask("alice", "GET", fmt.Sprintf("/v1/decks/1/exports/%d", id+1), ""); fmt.Sprint(read.JSON(t)["meta"]) != "map[poll_after_seconds:2]" {
			t.Errorf("pending: %s", read.Text)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- s.Repo.RunJobs(ctx, (&export.Worker{Repo: s.Repo, PDF: broken{}, Log: slog.New(slog.DiscardHandler)}).Jobs())
	}()
	defer func() { stop(); <-done }()
	ended := func(id int) map[string]any {
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			got := s.ask("alice", "GET", fmt.Sprintf("/v1/decks/1/exports/%d", id), "").JSON(t)
			if e := got["data"].(map[string]any); e["status"] != "pending" {
				if got["meta"] != nil {
					t.Errorf("ended: %v", got)
				}
				return e
			}
		}
		t.Fatalf("export %d does not end", id)
		return nil
	}
	failed, _ := ended(1)["error"].(map[string]any)
	if e := ended(1); e["status"] != "failed" || e["completed_at"] != nil || e["download_url"] != nil || failed["code"] != "renderer_unavailable" {
		t.Errorf("failed: %v", e)
	}
	e := ended(2)
	url := fmt.Sprint(e["download_url"])
	if e["status"] != "completed" || e["completed_at"] == nil || e["download_url_expires_at"] == nil {
		t.Errorf("completed: %v", e)
	}
	path := strings.TrimPrefix(url, s.URL)
	if got := s.Do("GET", path, "", "as", ""); got.StatusCode != http.StatusOK || !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") || !strings.HasPrefix(got.Text, "PK") {
		t.Errorf("downloaded: %s %q", got.Status, got.Header.Get("Content-Disposition"))
	}
	if got := s.Do("GET", path+"0", "", "as", ""); got.StatusCode < 400 {
		t.Errorf("with a wrong signature: %s", got.Status)
	}
}

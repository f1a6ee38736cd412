package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"catena/decks/export"
	"catena/decks/render"
	"catena/storage"
	"catena/storage/fault"
)

// printer makes PDF files as a test wants them.
type printer func(context.Context) ([]byte, error)

func (p printer) PDF(ctx context.Context, _ *render.Deck, _ render.Options) ([]byte, error) {
	return p(ctx)
}

// TestSpecExportStates follows an export through each of its states, and looks at every field
// that it has on the way: those of the table, and what is told besides when something is.
func TestSpecExportStates(t *testing.T) {
	const path = "/v1/decks/1/exports"
	const lost = `<section><img src=\"https://example.org/a.png\"><img src=\"https://example.org/b.png\"></section>`
	begun, end := make(chan bool), make(chan error)
	waits := printer(func(context.Context) ([]byte, error) { begun <- true; return []byte("%PDF-1.7"), <-end })
	unavailable := fault.Unavailable.Errorf("there is no browser").WithCode(fault.CodeRendererUnavailable)
	for name, ends := range map[string]error{"completed": nil, "failed": unavailable} {
		t.Run(name, func(t *testing.T) {
			s := describe(t)
			s.data("lead", "POST", "/v1/decks", `{"title":"Talk","data":"`+lost+`"}`)
			pending := s.ask("lead", "POST", path, `{"format":"pdf"}`).JSON(t)
			s.holds("started", "Export", "", false, pending["data"], func(f specField) string {
				return map[string]string{"id": "1", "deck_id": "1"}[f.name] + map[bool]string{true: f.bare}[f.name != "id" && f.name != "deck_id"]
			})
			s.holds("started", "poll", "", false, pending["meta"], bare)
			went := make(chan bool)
			go func() {
				defer close(went)
				<-begun
				got := s.ask("lead", "GET", path+"/1", "").JSON(t)
				data := got["data"].(map[string]any)
				if data["status"] != "pending" || !s.like(`{"stage":"rendering","since":"{now}"}`, data["progress"]) || !s.like(`{"poll_after_seconds":2}`, got["meta"]) {
					t.Errorf("under way: %v", got)
				}
				end <- ends
			}()
			data := s.work(&export.Worker{PDF: waits}, 1, 1)
			<-went
			got := s.ask("lead", "GET", path+"/1", "").JSON(t)
			want := map[string]string{
				"warnings": `["2 from example.org: not fetched"]`, "progress": `null`, "error": `null`, "status": `"completed"`, "completed_at": `"{now}"`,
				"download_url": `"{base}/v1/decks/1/exports/1/download?expires=…"`, "download_url_expires_at": `"2026-02-04T04:05:06.000Z"`,
			}
			if ends != nil {
				want = map[string]string{
					"warnings": `null`, "progress": `null`, "error": `{"code":"renderer_unavailable","message":"there is no browser"}`, "status": `"failed"`,
					"completed_at": `null`, "download_url": `null`, "download_url_expires_at": `null`,
				}
			}
			for field, value := range want {
				if !s.like(value, data[field]) {
					t.Errorf("%s: %v, want %s", field, data[field], value)
				}
			}
			if got["meta"] != nil {
				t.Errorf("ended, with %v", got["meta"])
			}
		})
	}
}

// TestShortDownload has addresses live for a quarter of an hour, as where they might leak: after
// that, after the deck is in the trash, and to anyone who changes them they give nothing.
func TestShortDownload(t *testing.T) {
	s := describe(t, func(c *storage.Config) { c.Bounds = c.Bounds.With(export.Limits{Time: 15 * time.Minute}) })
	s.data("lead", "POST", "/v1/decks", `{"title":"Talk","data":"<section>x</section>"}`)
	s.data("lead", "POST", "/v1/decks/1/exports", `{"format":"zip"}`)
	e := s.work(&export.Worker{}, 1, 1)
	if !s.like(`"2026-02-03T04:20:06.000Z"`, e["download_url_expires_at"]) {
		t.Errorf("expires at %v", e["download_url_expires_at"])
	}
	path := strings.TrimPrefix(e["download_url"].(string), s.URL)
	for _, step := range []struct {
		after time.Duration
		do    string
		want  string
	}{
		{0, "", "200"},
		{15*time.Minute - time.Second, "", "200"},
		{15*time.Minute - time.Second, "trash", "404 notfound"},
		{15*time.Minute - time.Second, "recover", "200"},
		{15 * time.Minute, "", "410 link_expired"},
	} {
		s.skip.Store(int64(step.after))
		if step.do != "" {
			s.must(s.ask("lead", "POST", "/v1/decks/1/"+step.do, ""))
		}
		got := s.Do("GET", path, "", "as", "")
		if status(got) != step.want || got.StatusCode >= 400 && strings.Contains(got.Text, "PK") {
			t.Errorf("after %s %s: %s, want %s", step.after, step.do, status(got), step.want)
		}
		if got.StatusCode == http.StatusOK && (got.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment")) {
			t.Errorf("headers %v", got.Header)
		}
	}
}

// TestSpecDownload moves the clock over the end of a download address, and of its file. The
// address needs no key, and is of one file only.
func TestSpecDownload(t *testing.T) {
	s := describe(t)
	s.data("lead", "POST", "/v1/decks", `{"title":"Talk","data":"<section>x</section>"}`)
	s.data("lead", "POST", "/v1/decks/1/exports", `{"format":"zip"}`)
	first := s.work(&export.Worker{}, 1, 1)["download_url"].(string)
	get := func(address string) string {
		got := s.Do("GET", strings.TrimPrefix(address, s.URL), "", "as", "")
		if whole := strings.HasPrefix(got.Text, "PK"); whole != (got.StatusCode == http.StatusOK) || whole && got.Header.Get("Content-Disposition") != "attachment; filename=Talk.zip" {
			t.Errorf("%s: %s %q, %d bytes", address, got.Status, got.Header.Get("Content-Disposition"), len(got.Text))
		}
		return status(got)
	}
	again := func() string {
		return fmt.Sprint(s.data("lead", "GET", "/v1/decks/1/exports/1", "")["download_url"])
	}
	for _, at := range []struct {
		skip time.Duration
		want string
	}{
		{0, "200"},
		{24*time.Hour - time.Second, "200"},
		{24 * time.Hour, "410 link_expired"},
		{export.Kept - time.Second, "410 link_expired"},
	} {
		s.skip.Store(int64(at.skip))
		if got := get(first); got != at.want {
			t.Errorf("after %s: %s, want %s", at.skip, got, at.want)
		}
		if got := get(again()); got != "200" {
			t.Errorf("after %s at a new address: %s", at.skip, got)
		}
	}
	for _, other := range []string{first + "0", strings.Replace(first, "exports/1/", "exports/2/", 1), strings.Replace(first, "decks/1/", "decks/2/", 1), strings.Replace(first, "expires=", "expires=9", 1)} {
		if got := get(other); got != "403 invalid_signature" {
			t.Errorf("%s: %s", other, got)
		}
	}
	fresh := again()
	s.must(s.ask("lead", "POST", "/v1/decks/1/trash", ""))
	if got := get(fresh); got != "404 notfound" {
		t.Errorf("of a deck in the trash: %s", got)
	}
	s.must(s.ask("lead", "POST", "/v1/decks/1/recover", ""))
	s.skip.Store(int64(export.Kept))
	if got := get(fresh); got != "410 link_expired" {
		t.Errorf("after a week: %s", got)
	}
	if got := status(s.ask("lead", "GET", "/v1/decks/1/exports/1", "")); got != "404 notfound" {
		t.Errorf("after a week: %s", got)
	}
}

package export_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"catena/decks/export"
	"catena/decks/format"
	"catena/decks/render"
)

// TestNewFormat adds a format to the table and what makes its files, and nothing else: callers can ask for it, the
// file has its type, it is in the OpenAPI description and on the page.
func TestNewFormat(t *testing.T) {
	before := format.Formats
	format.Formats = append(slices.Clone(before), format.Format{Name: "txt", Type: "text/plain", Label: "Plain text"})
	export.Makers["txt"] = func(_ context.Context, _ *export.Worker, d *render.Deck, _ render.Options) ([]byte, error) {
		return []byte("text of " + d.Title), nil
	}
	t.Cleanup(func() {
		format.Formats = before
		delete(export.Makers, "txt")
	})
	s := newService(t)
	defer s.start(&export.Worker{PDF: simple})()
	s.call("POST", "/v1/decks/1/exports", `{"format":"txt"}`, http.StatusAccepted)
	made := s.await("/v1/decks/1/exports/1")
	address, _ := made["download_url"].(string)
	if got := s.Do("GET", strings.TrimPrefix(address, s.URL), ""); got.Text != "text of Talk" || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("%v: %s %s %s", made, got.Status, got.Header, got.Text)
	}
	if got := s.Do("GET", "/openapi.json", ""); !strings.Contains(got.Text, `"text/plain":{}`) {
		t.Errorf("OpenAPI: %s", got.Status)
	}
	if got := s.Do("GET", "/decks/alice/talk/edit", "", "Authorization", "Bearer "+s.key); !strings.Contains(got.Text, "Plain text") {
		t.Errorf("page: %s", got.Status)
	}
	if got := s.Do("POST", "/v1/decks/1/exports", `{"format":"doc"}`, "Authorization", "Bearer "+s.key); !strings.Contains(got.Text, "is not one of pdf, zip, txt") {
		t.Errorf("unknown format: %s", got.Text)
	}
}

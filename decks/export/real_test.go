package export_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"catena/decks/export"
	"catena/decks/render"
	"catena/engine/pdf"
)

// real are presentations of other people: how many slides they have, and pages as reveal.js
// prints them, without and with a page for each fragment. Markdown makes several of one.
var real = []struct {
	file             string
	slides           int
	pages, separated int
}{
	{"f1-slidescom-sqlpage-pgconf.html", 63, 63, 98},
	{"f2-18f-docker-talk.html", 18, 18, 20},
	{"f3-asciidoctor-code-rouge.html", 5, 5, 5},
	{"n1-revealjs-6-demo.html", 42, 41, 60},
	{"n3-revealjs-3.9-markdown.html", 8, 14, 16},
}

func body(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// TestRealDecks imports decks and takes them out again: what has been kept once stays byte for byte.
// Their files have the pages that reveal.js prints, of the size of their slides.
func TestRealDecks(t *testing.T) {
	s := newService(t)
	path := render.FindChromium()
	if path == "" {
		t.Skip("no browser is installed")
	}
	browser := &render.Chromium{Path: path}
	defer browser.Close()
	defer s.start(&export.Worker{PDF: browser})()
	for _, r := range real {
		t.Run(r.file, func(t *testing.T) {
			if r.slides > 20 && os.Getenv("CATENA_CORPUS") != "all" {
				t.Skip("takes half a minute; CATENA_CORPUS=all prints it, and so does make fault")
			}
			source, err := os.ReadFile(filepath.Join("testdata", "real", r.file))
			if err != nil {
				t.Fatal(err)
			}
			id := s.call("POST", "/v1/decks/import", body(map[string]any{"source": string(source), "format": "html"}), http.StatusCreated)["id"]
			at := fmt.Sprintf("/v1/decks/%v", id)
			deck := s.call("GET", at, "", http.StatusOK)
			html, _ := deck["data"].(string)
			if deck["slide_count"] != float64(r.slides) {
				t.Errorf("%v slides, want %d", deck["slide_count"], r.slides)
			}
			s.call("PATCH", at, body(map[string]any{"data": html}), http.StatusOK)
			if again := s.call("GET", at, "", http.StatusOK)["data"]; again != html {
				t.Errorf("other bytes after an update: %s", difference(html, again))
			}
			other := s.call("POST", "/v1/decks", body(map[string]any{"title": "Copy", "data": html}), http.StatusCreated)["id"]
			if copied := s.call("GET", fmt.Sprintf("/v1/decks/%v", other), "", http.StatusOK)["data"]; copied != html {
				t.Errorf("other bytes in a new deck: %s", difference(html, copied))
			}
			for separate, pages := range map[bool]int{false: r.pages, true: r.separated} {
				e := s.call("POST", at+"/exports", body(map[string]any{"format": "pdf", "separate_fragments": separate}), http.StatusAccepted)
				done := s.await(fmt.Sprintf("%s/exports/%v", at, e["id"]))
				if done["status"] != "completed" {
					t.Fatalf("export: %v", done)
				}
				s.sized(t, fmt.Sprint("chromium, fragments apart: ", separate), s.file(done), pages, deck)
				drawn, err := render.Embedded{}.PDF(context.Background(), &render.Deck{
					Title: "x", HTML: html, Width: int(deck["width"].(float64)), Height: int(deck["height"].(float64)),
				}, render.Options{SeparateFragments: separate})
				if err != nil {
					t.Fatal(err)
				}
				s.sized(t, fmt.Sprint("embedded, fragments apart: ", separate), string(drawn), pages, deck)
			}
		})
	}
}

// sized checks the pages of a PDF file: how many there are, and that they are as large as slides.
func (s *service) sized(t *testing.T, what, printed string, pages int, deck map[string]any) {
	t.Helper()
	dims, err := api.PageDims(strings.NewReader(printed), pdf.Settings())
	if err != nil {
		t.Fatal(what, err)
	}
	if len(dims) != pages {
		t.Errorf("%s: %d pages, want %d", what, len(dims), pages)
	}
	const points = 0.75 // of a pixel
	for i, d := range dims {
		if w, h := deck["width"].(float64)*points, deck["height"].(float64)*points; d.Width < w-1 || d.Width > w+1 || d.Height < h-1 || d.Height > h+1 {
			t.Errorf("%s: page %d is %v, want %v by %v", what, i+1, d, w, h)
			return
		}
	}
}

// difference shows the first place where two texts differ.
func difference(want string, got any) string {
	g, _ := got.(string)
	i := 0
	for i < len(want) && i < len(g) && want[i] == g[i] {
		i++
	}
	return fmt.Sprintf("at %d: %.60q, was %.60q", i, g[i:], want[i:])
}

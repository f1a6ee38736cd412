package export_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/decks/export"
	"catena/decks/render"
	"catena/rest/resttest"
)

// sketcher draws slides as text, and counts.
type sketcher struct {
	renderer
	drawn *atomic.Int64
}

func (s sketcher) Still(_ context.Context, d *render.Deck, slide int) (*render.Still, error) {
	s.drawn.Add(1)
	return &render.Still{Data: []byte("JPEG " + d.HTML + strings.Repeat("!", slide)), Type: "image/jpeg"}, nil
}

// TestThumbnail has slides drawn once for each state of the deck, for those who may see it.
func TestThumbnail(t *testing.T) {
	s := newService(t)
	s.User("bob")
	var drawn atomic.Int64
	defer s.start(&export.Worker{PDF: sketcher{simple, &drawn}})()
	address := func() string {
		return strings.TrimPrefix(s.call("GET", "/v1/decks/1", "", http.StatusOK)["thumbnail_url"].(string), s.URL)
	}
	get := func(at string, status int, want string, header ...string) *resttest.Answer {
		t.Helper()
		a := s.Do("GET", at, "", append([]string{"as", ""}, header...)...)
		if a.StatusCode != status || want != "" && a.Text != want {
			t.Errorf("GET %s: %s %.100q, want %d %q", at, a.Status, a.Text, status, want)
		}
		return a
	}
	first := address()
	a := get(first, 200, "JPEG <section>one</section>!")
	if a.Header.Get("Content-Type") != "image/jpeg" || a.Header.Get("Cache-Control") != "private, max-age=3600" {
		t.Errorf("%v", a.Header)
	}
	plain, _, _ := strings.Cut(first, "?")
	bearer := []string{"Authorization", "Bearer " + s.key}
	get(plain, 404, "")
	get(strings.Replace(first, "key=", "key=Q", 1), 404, "")
	get(plain, 404, "", "Authorization", "Bearer "+s.Key("bob", "read_write"))
	get("/v1/decks/1/thumbnail", 404, "", "Authorization", "Bearer "+s.Key("bob", "read_write"))
	get("/v1/decks/1/thumbnail", 200, "JPEG <section>one</section>!", "Authorization", "Bearer "+s.Key("alice", "read_only"))
	get("/v1/decks/1/thumbnail?slide=2", 404, "", bearer...)
	get("/v1/decks/1/thumbnail?slide=x", 422, "", bearer...)
	if n := drawn.Load(); n != 1 {
		t.Errorf("drawn %d times", n)
	}

	s.call("PATCH", "/v1/decks/1", `{"data":"<section>a</section><section>b</section>","visibility":"all"}`, http.StatusOK)
	second := address()
	if second == first || strings.Contains(second, "key=") {
		t.Errorf("address of a public deck that was changed: %s", second)
	}
	get(second, 200, "JPEG <section>a</section><section>b</section>!")
	get(second+"&slide=2", 404, "") // strangers have no others drawn
	get("/v1/decks/1/thumbnail?slide=2", 200, "JPEG <section>a</section><section>b</section>!!", bearer...)
	if page := get(plain[:strings.LastIndexByte(plain, '/')], 200, ""); !strings.Contains(page.Text, `<meta property="og:image" content="`+s.URL+second) {
		t.Errorf("no picture on the page: %s", page.Text)
	}

	s.call("PATCH", "/v1/decks/1", `{"visibility":"self"}`, http.StatusOK)
	get(second, 404, "")
	third := address()
	get(third, 200, "")
	s.skip.Add(int64(49 * time.Hour))
	get(third, 404, "")
	s.call("POST", "/v1/decks/1/trash", "", http.StatusNoContent)
	get(third, 404, "")
	if n := drawn.Load(); n != 3 {
		t.Errorf("drawn %d times", n)
	}
}

// TestCard has a card where nothing draws, and while nothing is drawn yet.
func TestCard(t *testing.T) {
	s := newService(t)
	bearer := []string{"as", "", "Authorization", "Bearer " + s.key}
	a := s.Do("HEAD", "/v1/decks/1/thumbnail", "", bearer...)
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "image/png" || a.Header.Get("Cache-Control") != "no-cache, private" {
		t.Errorf("%s %v", a.Status, a.Header)
	}
	if again := a.Header.Get("Retry-After"); again != "2" {
		t.Errorf("a card may be asked for again after %q", again)
	}
	if a := s.Do("HEAD", "/v1/decks/1/thumbnail?card=0", "", bearer...); a.StatusCode != http.StatusAccepted || a.Header.Get("Retry-After") != "2" || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("without a card: %s %v", a.Status, a.Header)
	}
	defer s.start(&export.Worker{PDF: simple})()
	if a := s.Do("GET", "/v1/decks/1/thumbnail", "", bearer...); !strings.HasPrefix(a.Text, "\x89PNG") {
		t.Errorf("%s %.20q", a.Status, a.Text)
	}
}

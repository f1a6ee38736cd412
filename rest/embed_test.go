package rest_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
)

// embeds lets sites embed alice's first deck.
func embeds(t *testing.T, s *resttest.Server, origins string) {
	t.Helper()
	got := s.Do("POST", "/api/v1/automation/Deck.Update", fmt.Sprintf(`{"params": {"id": 1, "looks": {"embed_origins": %q}}}`, origins), "as", "alice")
	if got.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", got.Status, got.Text)
	}
}

// TestEmbed: the owner of a deck names the sites whose pages may show it, and oEmbed tells them how.
func TestEmbed(t *testing.T) {
	l := lend(t)
	public := makeDeck(t, l.Server, map[string]any{"title": "Out & about", "data": "<section>Hello</section>", "visibility": "all"})
	ask := func(path, more string) *resttest.Answer {
		return l.Do("GET", "/oembed?url="+url.QueryEscape(l.URL+path)+more, "", "as", "")
	}
	frames := func(path string) (policy, option string) {
		got := l.Do("GET", path, "", "as", "")
		if got.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, got.Status)
		}
		_, policy, _ = strings.Cut(got.Header.Get("Content-Security-Policy"), "frame-ancestors ")
		policy, _, _ = strings.Cut(policy, ";")
		return policy, got.Header.Get("X-Frame-Options")
	}

	// Nobody may, unless the owner says so: then a link is all that others get.
	if policy, option := frames(public + "/fullscreen"); policy != "'self'" || option != "SAMEORIGIN" {
		t.Errorf("a new deck: %s %s", policy, option)
	}
	if m := ask(public, "").JSON(t); m["type"] != "link" || m["title"] != "Out & about" || m["html"] != nil || m["version"] != "1.0" {
		t.Errorf("a new deck: %v", m)
	}
	shared := l.link(`{}`)
	embeds(t, l.Server, "https://example.org  https://*.Example.com:8443")
	if policy, option := frames(shared + "/fullscreen"); policy != "'self' https://example.org https://*.example.com:8443" || option != "" {
		t.Errorf("slides of a private link: %s %q", policy, option)
	}
	// Pages with controls stay where they are.
	for _, path := range []string{shared, public, "/ui/login"} {
		if policy, option := frames(path); policy != "'self'" || option != "SAMEORIGIN" {
			t.Errorf("%s: %s %q", path, policy, option)
		}
	}
	m := ask(shared, "&maxwidth=480").JSON(t)
	want := `<iframe src="` + l.URL + shared + `/fullscreen" width="480" height="350" title="Lent" style="border:0" allow="fullscreen" loading="lazy"></iframe>`
	if m["type"] != "rich" || m["html"] != want || m["width"] != 480.0 || m["height"] != 350.0 || m["author_url"] != nil {
		t.Errorf("a private link: %v", m)
	}
	if m := ask(shared+"/fullscreen?x=1#/2", "&maxheight=70&maxwidth=5000").JSON(t); m["width"] != 96.0 || m["height"] != 70.0 {
		t.Errorf("low: %v", m)
	}

	private := makeDeck(t, l.Server, map[string]any{"title": "Mine", "data": "<section>Mine</section>"})
	locked := l.link(`{"password": "sesame"}`)
	for _, tt := range []struct {
		path, more string
		status     int
		text       string
	}{
		{private, "", 404, ""},
		{"/share/nothing", "", 404, ""},
		{"/ui/", "", 404, "is not the address of a deck"},
		{"/decks/alice", "", 404, "is not the address of a deck"},
		{"/decks/al%zzice/x", "", 404, "is not the address of a deck"},
		{locked, "", 403, "has a password"},
		{public, "&format=xml", 501, "format=json"},
		{shared, "&maxwidth=wide", 400, "maxwidth"},
		{shared, "&maxheight=0", 400, "maxheight"},
	} {
		// What the caller may see does not count: the answer is for others.
		if got := l.Do("GET", "/oembed?url="+url.QueryEscape(l.URL+tt.path)+tt.more, "", "as", "alice"); got.StatusCode != tt.status || !strings.Contains(got.Text, tt.text) {
			t.Errorf("%s%s: %s %s", tt.path, tt.more, got.Status, got.Text)
		}
	}
	if got := l.Do("GET", "/oembed?url="+url.QueryEscape("https://elsewhere.example"+public), "", "as", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("another server: %s", got.Status)
	}
	if page := l.Do("GET", public, "", "as", ""); !strings.Contains(page.Text, `type="application/json+oembed" href="`+l.URL+"/oembed?url=") {
		t.Error("the page of a public deck does not say where its description is")
	}
	for _, wrong := range []string{"example.org", "https://example.org/path", "https://example.org; script-src *", "javascript:alert(1)", "https://a.org,https://b.org", "https://*", "* https://a.org", "'none'"} {
		got := l.Do("POST", "/api/v1/automation/Deck.Update", fmt.Sprintf(`{"params": {"id": 1, "looks": {"embed_origins": %q}}}`, wrong), "as", "alice")
		if got.StatusCode != http.StatusBadRequest && got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.Text, "embed_origins") {
			t.Errorf("%q: %s %s", wrong, got.Status, got.Text)
		}
	}
	embeds(t, l.Server, "*")
	if policy, _ := frames(shared + "/fullscreen"); policy != "'self' *" {
		t.Errorf("everywhere: %s", policy)
	}
	embeds(t, l.Server, "")
	if policy, option := frames(shared + "/fullscreen"); policy != "'self'" || option != "SAMEORIGIN" {
		t.Errorf("nowhere again: %s %q", policy, option)
	}
}

// TestBrowserEmbed shows a deck on the page of another site, as oEmbed describes it. The browser keeps what the frame does
// from the page, so the requests that reach the server tell.
func TestBrowserEmbed(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Rest: func(c *rest.Config) {
		c.Access = slog.New(slog.NewJSONHandler(writeFunc(func(line []byte) (int, error) {
			var said struct{ Path string }
			mu.Lock()
			defer mu.Unlock()
			if json.Unmarshal(line, &said) == nil {
				seen = append(seen, said.Path)
			}
			return len(line), nil
		}), nil))
	}})
	s.User("alice")
	path := makeDeck(t, s, map[string]any{"title": "Embedded", "data": threeSlides, "visibility": "all"})
	frame := ""
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><title>A blog</title><link rel=icon href=data:,><h1>A blog</h1>%s<script>document.querySelector('iframe').addEventListener('load', () => document.title = 'loaded')</script>", frame)
	}))
	defer site.Close()
	visit := func(shot string) (asked string) {
		mu.Lock()
		seen = nil
		mu.Unlock()
		b := browse(t, s)
		b.base = site.URL
		b.open("/")
		b.wait(`document.title === "loaded"`) // also when the frame was refused
		b.shot(shot)
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(seen, " ")
	}

	embeds(t, s, site.URL)
	frame, _ = s.Do("GET", "/oembed?url="+url.QueryEscape(s.URL+path), "", "as", "").JSON(t)["html"].(string)
	if asked := visit("embedded"); !strings.Contains(asked, path+"/fullscreen") || !strings.Contains(asked, "/slides.js") {
		t.Errorf("the slides did not run: %s", asked)
	}
	embeds(t, s, "https://example.org")
	if asked := visit("refused"); !strings.Contains(asked, path+"/fullscreen") || strings.Contains(asked, "/slides.js") {
		t.Errorf("on a site that may not embed the deck: %s", asked)
	}
}

// writeFunc is a writer.
type writeFunc func(p []byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

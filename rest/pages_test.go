package rest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
)

// signedIn returns the cookie of a session and its token.
func signedIn(t *testing.T, s *resttest.Server, user string) (cookie, csrf string) {
	t.Helper()
	form := url.Values{"user": {user}, "password": {resttest.Password}, "next": {"/ui/keys"}}
	res := s.Do("POST", "/ui/login", form.Encode(), "as", "", "Content-Type", "application/x-www-form-urlencoded")
	c := res.Cookies()
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/ui/keys" || len(c) != 2 {
		t.Fatalf("sign-in: %s %s %v", res.Status, res.Text, c)
	}
	for _, c := range c { // of the session, and of the device
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Expires.IsZero() {
			t.Errorf("cookie: %s", c)
		}
	}
	cookie = c[0].Name + "=" + c[0].Value
	page := s.Do("GET", "/ui/", "", "as", "", "Cookie", cookie)
	m := regexp.MustCompile(`data-csrf="([^"]+)"`).FindStringSubmatch(page.Text)
	if page.StatusCode != http.StatusOK || m == nil {
		t.Fatalf("console: %s %s", page.Status, page.Text)
	}
	return cookie, m[1]
}

func TestSessionOfBrowser(t *testing.T) {
	s := startDecks(t, -1)
	cookie, csrf := signedIn(t, s, "alice")
	form := []string{"as", "", "Content-Type", "application/x-www-form-urlencoded"}
	tests := []struct {
		what, method, path, body string
		headers                  []string
		status                   int
	}{
		{"a page's script", "GET", "/v1/decks", "", []string{"Cookie", cookie, "X-CSRF-Token", csrf}, 200},
		{"the platform's interface", "GET", "/api/v1/me", "", []string{"Cookie", cookie, "X-CSRF-Token", csrf}, 200},
		{"a write", "POST", "/v1/decks", `{}`, []string{"Cookie", cookie, "X-CSRF-Token", csrf}, 201},
		{"the cookie alone", "POST", "/v1/decks", `{}`, []string{"Cookie", cookie}, 401},
		{"the cookie alone reads", "GET", "/v1/decks", "", []string{"Cookie", cookie}, 401},
		{"a wrong token", "POST", "/v1/decks", `{}`, []string{"Cookie", cookie, "X-CSRF-Token", "x" + csrf}, 401},
		{"a token alone", "GET", "/v1/decks", "", []string{"X-CSRF-Token", csrf}, 401},
		{"another site", "POST", "/v1/decks", `{}`, []string{"Cookie", cookie, "X-CSRF-Token", csrf, "Sec-Fetch-Site", "cross-site"}, 403},
		{"a tool server", "POST", "/mcp", `{}`, []string{"Cookie", cookie, "X-CSRF-Token", csrf}, 401},
		{"another site signs in", "POST", "/ui/login", "user=alice&password=x", []string{"Content-Type", form[3], "Origin", "https://evil.example"}, 403},
		{"wrong password", "POST", "/ui/login", "user=alice&password=x", form[2:], 401},
		{"JSON to a form", "POST", "/ui/login", `{}`, nil, 415},
		{"sign-out without the token", "POST", "/ui/logout", "csrf=x", append([]string{"Cookie", cookie}, form[2:]...), 403},
		{"sign-out", "POST", "/ui/logout", "csrf=" + csrf, append([]string{"Cookie", cookie}, form[2:]...), 303},
		{"after it", "GET", "/v1/decks", "", []string{"Cookie", cookie, "X-CSRF-Token", csrf}, 401},
		{"a page after it", "GET", "/ui/keys", "", []string{"Cookie", cookie}, 303},
	}
	for _, test := range tests {
		if got := s.Do(test.method, test.path, test.body, append([]string{"as", ""}, test.headers...)...); got.StatusCode != test.status {
			t.Errorf("%s: %s %.200s", test.what, got.Status, got.Text)
		}
	}
	if got := s.Do("GET", "/api/v1/me", "", "as", "", "Cookie", cookie, "X-CSRF-Token", csrf); got.Header.Get("WWW-Authenticate") != "" {
		t.Error("a browser would ask for a password over the page")
	}
}

func TestSignInGoesOnHere(t *testing.T) {
	s := startDecks(t, -1)
	for next, want := range map[string]string{
		"/decks/alice/x?y=1": "/decks/alice/x?y=1", "": "/ui/", "https://evil.example/": "/ui/", "//evil.example": "/ui/", `/\evil.example`: "/ui/",
		"javascript:alert(1)": "/ui/", "/\tevil": "/ui/", "/%2F": "/%2F",
	} {
		form := url.Values{"user": {"alice"}, "password": {resttest.Password}, "next": {next}}
		res := s.Do("POST", "/ui/login", form.Encode(), "as", "", "Content-Type", "application/x-www-form-urlencoded")
		if got := res.Header.Get("Location"); got != want {
			t.Errorf("next %q: %s", next, got)
		}
	}
}

func TestPagesOfDecks(t *testing.T) {
	s := startDecks(t, -1)
	s.User("bob")
	private := makeDeck(t, s, map[string]any{"title": "Private & <mine>", "data": "<section>secret</section>"})
	public := makeDeck(t, s, map[string]any{"title": "For \"all\"", "description": "About it", "visibility": "all", "data": "<section>open<aside class=\"notes\">hush</aside></section>"})
	tests := []struct {
		as, path string
		status   int
		has, not string
	}{
		{"alice", private, 200, "<title>Private &amp; &lt;mine&gt;", "og:title"},
		{"alice", private, 200, `href="` + private + `/edit"`, "secret"},
		{"alice", private + "/fullscreen", 200, "<section>secret</section>", ""},
		{"alice", private + "/edit", 200, "slide-list", "secret"},
		{"alice", private + "/present", 200, "Speaker notes", "secret"},
		{"bob", private, 404, "Page not found", "mine"},
		{"bob", private + "/fullscreen", 404, "Page not found", "secret"},
		{"bob", private + "/edit", 404, "Page not found", "mine"},
		{"", private, 404, "Sign in", "&lt;"},
		{"", private + "/live", 404, "", "<mine"},
		{"", private + "/edit", 303, "", "mine"},
		{"", "/decks/alice/nothing", 404, "Sign in", ""},
		{"", "/decks/alice/nothing/edit", 303, "", ""},
		{"", public, 200, `<meta property="og:title" content="For &#34;all&#34;">`, "/edit"},
		{"", public, 200, `<meta property="og:url" content="` + s.URL + public + `">`, "noindex"},
		{"", public + "/fullscreen", 200, "<section>open", "hush"},
		{"", public + "?print-pdf", 303, "", ""},
		{"bob", public + "/edit", 403, "Only the owner", ""},
		{"", "/share/none", 404, "Page not found", "Sign in"},
		{"", "/share/none/fullscreen", 404, "Page not found", ""},
		{"", "/", 303, "", ""},
		{"", "/ui/", 303, "", ""},
		{"", "/nuxeo" + public, 200, `src="` + public + `/fullscreen?frame=inner"`, ""},
	}
	for _, test := range tests {
		got := s.Do("GET", test.path, "", "as", test.as)
		if got.StatusCode != test.status || !strings.Contains(got.Text, test.has) || test.not != "" && strings.Contains(got.Text, test.not) {
			t.Errorf("%s as %q: %s, want %d with %q without %q\n%.600s", test.path, test.as, got.Status, test.status, test.has, test.not, got.Text)
		}
		policy := got.Header.Get("Content-Security-Policy")
		if test.has != "" && (!strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") || !strings.Contains(policy, "default-src 'none'") || got.Header.Get("Cache-Control") != "no-store") {
			t.Errorf("%s: headers %v", test.path, got.Header)
		}
		if slides := strings.HasSuffix(test.path, "/fullscreen") && got.StatusCode == http.StatusOK; slides != strings.Contains(policy, "sandbox allow-scripts") {
			t.Errorf("%s: policy %s", test.path, policy)
		}
	}
	one, two := s.Do("GET", public+"/fullscreen", "", "as", ""), s.Do("GET", public+"/fullscreen", "", "as", "")
	if one.Header.Get("Content-Security-Policy") == two.Header.Get("Content-Security-Policy") {
		t.Error("two answers have one nonce")
	}
}

func TestAssets(t *testing.T) {
	s := startDecks(t, -1)
	path := makeDeck(t, s, map[string]any{"visibility": "all", "data": "<section data-markdown></section>"})
	page := s.Do("GET", path+"/fullscreen", "", "as", "")
	found := regexp.MustCompile(`(?:src|href)="(/assets/[^"]+)"`).FindAllStringSubmatch(page.Text, -1)
	if len(found) < 6 {
		t.Fatalf("page: %s", page.Text)
	}
	for _, m := range found {
		got := s.Do("GET", m[1], "", "as", "", "Accept-Encoding", "gzip")
		if got.StatusCode != http.StatusOK || !strings.Contains(got.Header.Get("Cache-Control"), "immutable") || got.Header.Get("Access-Control-Allow-Origin") != "*" ||
			len(got.Text) > 2000 && got.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %s %v", m[1], got.Status, got.Header)
		}
		again := s.Do("GET", m[1], "", "as", "", "Accept-Encoding", "gzip", "If-None-Match", got.Header.Get("ETag"))
		plain := s.Do("GET", m[1], "", "as", "", "Accept-Encoding", "identity")
		if again.StatusCode != http.StatusNotModified || plain.StatusCode != http.StatusOK || plain.Header.Get("Content-Encoding") != "" || plain.Header.Get("ETag") == got.Header.Get("ETag") && got.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: again %s, plain %s %v", m[1], again.Status, plain.Status, plain.Header)
		}
	}
	base := found[0][1][:strings.LastIndex(found[0][1], "/")+1]
	theme := s.Do("GET", base+"theme/sea-yellow.league.css", "", "as", "")
	for _, m := range regexp.MustCompile(`url\("\.\./([^"]+)"\)`).FindAllStringSubmatch(theme.Text, -1) {
		if got := s.Do("GET", base+m[1], "", "as", ""); got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != "font/woff2" {
			t.Errorf("%s: %s", m[1], got.Status)
		}
	}
	if !strings.Contains(theme.Text, "League Gothic") {
		t.Errorf("theme: %s %.300s", theme.Status, theme.Text)
	}
	for _, name := range []string{"theme/x.y.css", "nothing.js", "../../../go.mod", "%2e%2e/theme.go", ".gitignore", "fonts/", "theme/white-blue.league.css.css"} {
		if got := s.Do("GET", base+name, "", "as", ""); got.StatusCode < 400 {
			t.Errorf("%s: %s", name, got.Status)
		}
	}
	if got := s.Do("GET", "/assets/old/reveal.js", "", "as", ""); got.StatusCode != http.StatusOK || got.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("another version: %s %v", got.Status, got.Header)
	}
}

func TestPagesBehindProxy(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Rest: func(c *rest.Config) {
		c.Base, c.DeckSources = "https://example.org/docs/nuxeo", []string{"https://media.example", "https://x.example; script-src *", "javascript:", "https://y.example/path"}
	}})
	s.User("alice")
	path := strings.TrimPrefix(makeDeck(t, s, map[string]any{"title": "T", "visibility": "all"}), "https://example.org/docs")
	page := s.Do("GET", path, "", "as", "")
	if !strings.Contains(page.Text, `src="/docs`+path+`/fullscreen?frame=inner"`) || !strings.Contains(page.Text, `content="https://example.org/docs`+path+`"`) {
		t.Errorf("page: %s", page.Text)
	}
	slides := s.Do("GET", path+"/fullscreen", "", "as", "")
	if p := slides.Header.Get("Content-Security-Policy"); !strings.Contains(p, "img-src data: blob: https://example.org/docs"+path+"/files/ https://media.example;") || !strings.Contains(p, "frame-src https://media.example;") {
		t.Errorf("policy: %s", p)
	}
	form := url.Values{"user": {"alice"}, "password": {resttest.Password}}
	res := s.Do("POST", "/ui/login", form.Encode(), "as", "", "Content-Type", "application/x-www-form-urlencoded", "Host", "example.org")
	if c := res.Cookies(); res.Header.Get("Location") != "/docs/ui/" || len(c) != 2 || !c[0].Secure || c[0].Path != "/docs/" {
		t.Errorf("sign-in: %s %v %v", res.Status, res.Header, fmt.Sprint(c))
	}
}

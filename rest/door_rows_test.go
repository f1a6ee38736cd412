package rest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
)

// doorRow is a request and its answer: status, a part of the body, and headers as "Name: part of the value"; "!" before a
// name means that the header is absent.
type doorRow struct {
	method, path, body string
	headers            []string
	status             int
	text               string
	has                []string
}

func playDoors(t *testing.T, s *resttest.Server, rows []doorRow) {
	t.Helper()
	for _, row := range rows {
		got := s.Do(row.method, row.path, row.body, row.headers...)
		if got.StatusCode != row.status || !strings.Contains(got.Text, row.text) {
			t.Errorf("%s %s %s: %s, want %d with %q\n%.400s", row.method, row.path, row.headers, got.Status, row.status, row.text, got.Text)
		}
		for _, want := range row.has {
			name, part, _ := strings.Cut(want, ": ")
			if absent, ok := strings.CutPrefix(name, "!"); ok {
				if got.Header.Get(absent) != "" {
					t.Errorf("%s %s: %s is %q", row.method, row.path, absent, got.Header.Get(absent))
				}
				continue
			}
			if all := strings.Join(got.Header.Values(name), ", "); !strings.Contains(all, part) || all == "" {
				t.Errorf("%s %s: %s is %q, want %q", row.method, row.path, name, all, part)
			}
		}
	}
}

func nobody(more ...string) []string { return append([]string{"as", ""}, more...) }

// TestDoorsOfPages asks the addresses of pages and assets in ways that browsers seldom do.
func TestDoorsOfPages(t *testing.T) {
	s := startDecks(t, -1)
	path := makeDeck(t, s, map[string]any{"title": "T", "visibility": "all", "data": "<section>x</section>"})
	home := s.Do("GET", "/ui/login", "", "as", "")
	_, at, _ := strings.Cut(home.Text, `href="/assets/`)
	version, _, _ := strings.Cut(at, "/")
	css := "/assets/" + version + "/ui.css"
	tag := s.Do("GET", css, "", nobody("Accept-Encoding", "identity")...).Header.Get("ETag")
	plain := func(more ...string) []string {
		return nobody(append([]string{"Accept-Encoding", "identity"}, more...)...)
	}
	playDoors(t, s, []doorRow{
		{"GET", css, "", plain(), 200, "{", []string{"Content-Type: text/css; charset=utf-8", "Cache-Control: immutable", "Vary: Accept-Encoding", "X-Content-Type-Options: nosniff"}},
		{"HEAD", css, "", plain(), 200, "", []string{"Content-Type: text/css", "ETag: " + tag, "Content-Length: "}},
		{"GET", css, "", plain("If-None-Match", tag), 304, "", []string{"ETag: " + tag, "Cache-Control: immutable", "!Content-Type"}},
		{"GET", css, "", plain("If-None-Match", "W/"+tag), 304, "", nil},
		{"GET", css, "", plain("If-None-Match", `"x", `+tag), 304, "", nil},
		{"GET", css, "", plain("If-None-Match", "*"), 304, "", nil},
		{"GET", css, "", plain("If-None-Match", `"x"`), 200, "{", nil},
		{"GET", css, "", nobody("Accept-Encoding", "gzip;q=0.0"), 200, "{", []string{"!Content-Encoding", "ETag: " + tag}},
		{"GET", css, "", nobody("Accept-Encoding", "x-br, GZIP;q=0.5"), 200, "", []string{"Content-Encoding: gzip", "Vary: Accept-Encoding"}},
		{"GET", css, "", nobody("Accept-Encoding", "gzip, deflate, br, zstd"), 200, "", []string{"Content-Encoding: br", "Vary: Accept-Encoding"}},
		{"GET", css, "", nobody("Accept-Encoding", "br;q=0, gzip"), 200, "", []string{"Content-Encoding: gzip"}},
		{"GET", css, "", nobody("Accept-Encoding", "br", "If-None-Match", strings.TrimSuffix(tag, `"`)+`-br"`), 304, "", nil},
		{"GET", css, "", nobody("Accept-Encoding", "gzip", "If-None-Match", tag), 200, "", []string{"Content-Encoding: gzip"}},
		{"POST", css, "x", nobody(), 405, "", []string{"Allow: GET"}},
		{"DELETE", path, "", nobody(), 405, "", []string{"Allow: GET"}},
		{"PUT", "/ui/login", "x", nobody(), 405, "", []string{"Allow: POST"}},
		{"HEAD", path, "", nobody(), 200, "", []string{"Content-Type: text/html", "Cache-Control: no-store"}},
		{"GET", path + "/", "", nobody(), 200, "<h1", nil},
		{"GET", "/oembed", "", nobody(), 404, "is not the address of a deck", nil},
		{"GET", "/oembed?format=JSON&url=" + url.QueryEscape(s.URL+path), "", nobody(), 501, "Only format=json", nil},
		{"GET", "/oembed?format=json&url=" + url.QueryEscape(s.URL+path+"/"), "", nobody(), 200, `"type":"link"`, []string{"Content-Type: application/json"}},
		{"GET", "/oembed?url=" + url.QueryEscape(s.URL+path+"/fullscreen/"), "", nobody(), 200, `"title":"T"`, nil},
		{"GET", "/oembed?url=" + url.QueryEscape(s.URL+path+"/edit"), "", nobody(), 404, "is not the address of a deck", nil},
		{"GET", "/oembed?url=" + url.QueryEscape(s.URL+".example"+path), "", nobody(), 404, "is not the address of a deck", nil},
		{"GET", "/oembed?url=" + url.QueryEscape(path), "", nobody(), 404, "is not the address of a deck", nil},
		{"GET", "/icons/..%2f..%2fui.css", "", nobody(), 303, "", []string{"Location: /assets/" + version + "/icon.svg"}},
		{"GET", "/decks/alice", "", nobody(), 200, `class="cover`, []string{"Content-Security-Policy: script-src 'self'"}},
		{"GET", "/decks/alice?page=2", "", nobody(), 404, "", nil},
		{"GET", "/decks/alice?page=x", "", nobody(), 400, "must be a number", nil},
		{"GET", "/decks/%2e%2e", "", nobody(), 400, "", nil},
		{"GET", "/teams/x", "", nobody(), 303, "", []string{"Location: /ui/team"}},
		{"GET", "/ui/keys", "", nobody(), 303, "", []string{"Location: /ui/login?next=%2Fui%2Fkeys"}},
		{"GET", "/ui/nope", "", nobody(), 404, "", nil},
	})
}

// TestDoorsOfSignIn: signing in leads on to addresses of this server only.
func TestDoorsOfSignIn(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Rest: func(c *rest.Config) { c.Base = "https://h.example/p/nuxeo" }})
	s.User("alice")
	home := s.Do("GET", "/ui/login", "").Header.Get("Location")
	if !strings.HasPrefix(home, "/p/") {
		t.Fatalf("home: %q", home)
	}
	for next, want := range map[string]string{
		"":                                   home,
		"/ui/keys?a=b#c":                     "/p/ui/keys?a=b#c",
		"//evil.example":                     home,
		"///evil.example":                    home,
		`/\evil.example`:                     home,
		"https://evil.example/":              home,
		"javascript:alert(1)":                home,
		"ui/keys":                            home,
		"/ui/\tkeys":                         home,
		"/ui/keys\r\nSet-Cookie: a=b":        home,
		"https://h.example@evil.example/ui/": home,
		"http:////evil.example":              home,
		"/%2f/evil.example":                  "/p/%2f/evil.example",
	} {
		for _, param := range []string{"next", "requestedUrl"} {
			got := s.Do("GET", "/ui/login?"+url.Values{param: {next}}.Encode(), "")
			if at := got.Header.Get("Location"); got.StatusCode != http.StatusSeeOther || at != want {
				t.Errorf("%s=%q: %s to %q, want %q", param, next, got.Status, at, want)
			}
		}
	}
	got := s.Do("GET", "/ui/login?next="+url.QueryEscape("http://h.example//evil.example"), "", "Host", "h.example")
	if at := got.Header.Get("Location"); at != home {
		t.Errorf("the host before two slashes: %s %q", got.Status, at)
	}
	got = s.Do("GET", "/ui/login?next="+url.QueryEscape("HTTPS://u:p@H.example/ui/keys"), "", "Host", "h.example")
	if at := got.Header.Get("Location"); at != "/p/ui/keys" {
		t.Errorf("an address with the host: %s %q", got.Status, at)
	}
	form := func(body string, headers ...string) []string {
		return append([]string{"as", "", "Content-Type", "application/x-www-form-urlencoded", "Host", "h.example"}, headers...)
	}("")
	playDoors(t, s, []doorRow{
		{"POST", "/ui/login", "user=alice&password=wrong&next=%2Fui%2Fkeys", form, 401, `value="/ui/keys"`, []string{"!Set-Cookie", "Cache-Control: no-store"}},
		{"POST", "/ui/login", "user=&password=", form, 401, "wrong", []string{"!Set-Cookie"}},
		{"POST", "/ui/login", "user=%22%3E%3Cscript%3E&password=x", form, 401, `value="&#34;&gt;&lt;script&gt;"`, nil},
		{"POST", "/ui/login", "user=alice&password=" + url.QueryEscape(resttest.Password) + "&next=//evil.example", form, 303, "", []string{"Location: " + home, "Set-Cookie: HttpOnly"}},
		{"GET", "/logout", "", nobody(), 303, "", []string{"Location: /p/login.jsp"}},
	})
}

// TestDoorsOfRuns has the errors of lists and states of runs, traces and operations.
func TestDoorsOfRuns(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	const at = "/api/v1/automation"
	playDoors(t, s, []doorRow{
		{"GET", at + "/runs", "", nil, 200, `"entity-type":"runs"`, []string{"Content-Type: application/json"}},
		{"GET", at + "/runs?state=done", "", nil, 200, `"entries":[`, nil},
		{"GET", at + "/runs?state=over", "", nil, 400, `state \"over\": must be`, nil},
		{"GET", at + "/runs?state=done&limit=0", "", nil, 400, `limit \"0\"`, nil},
		{"GET", at + "/runs?state=failed&since=yesterday", "", nil, 400, `since \"yesterday\"`, nil},
		{"GET", at + "/runs/nope", "", nil, 404, "", nil},
		{"DELETE", at + "/runs/nope", "", nil, 404, "", nil},
		{"POST", at + "/runs/nope/retry", "{}", nil, 404, "", nil},
		{"PUT", at + "/runs/nope", "{}", nil, 405, "", []string{"Allow: DELETE, GET, HEAD"}},
		{"GET", at + "/traces?status=maybe", "", nil, 400, `status \"maybe\"`, nil},
		{"GET", at + "/traces?limit=x", "", nil, 400, `limit \"x\"`, nil},
		{"GET", at + "/traces?user=nobody", "", nil, 200, `"entries":[]`, nil},
		{"GET", at + "/traces/nope", "", nil, 404, "trace nope", nil},
		{"GET", at + "/Nope", "", nil, 404, "", nil},
		{"POST", at + "/Nope", "{}", nil, 404, "", nil},
		{"POST", at + "/Nope/@async", "{}", nil, 404, "", nil},
		{"GET", at + "/Repository.Query/@async/nope", "", nil, 404, "", nil},
		{"GET", at + "/Repository.Query/@async/nope/status", "", nil, 404, "", nil},
		{"DELETE", at + "/Repository.Query/@async/nope", "", nil, 404, "", nil},
		{"POST", at + "/Repository.Query", "{", nil, 400, "", nil},
		{"POST", at + "/Repository.Query", "[]", nil, 400, "", nil},
		{"GET", at, "", nobody(), 401, "", []string{"WWW-Authenticate: Basic"}},
		{"GET", at + "/Document.Create", "", []string{"as", "bob"}, 200, `"id":"Document.Create"`, nil},
	})
}

// TestDoorsOfPeople has tokens of devices, and names that are none.
func TestDoorsOfPeople(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	bob := []string{"as", "bob"}
	const v1 = "/api/v1"
	playDoors(t, s, []doorRow{
		{"POST", v1 + "/token", "", bob, 400, "application is missing", nil},
		{"POST", v1 + "/token?application=a", "", bob, 400, "deviceId is missing", nil},
		{"POST", v1 + "/token?application=a&deviceId=d", "", bob, 400, "permission is missing", nil},
		{"POST", v1 + "/token?application=a&deviceId=d&permission=rw", "", bob, 201, "", []string{"Content-Type: text/plain", "Cache-Control: no-store"}},
		{"GET", v1 + "/token", "", bob, 200, `"entity-type":"tokens"`, nil},
		{"GET", v1 + "/token?application=b", "", bob, 200, `"entries":[]`, nil},
		{"DELETE", v1 + "/token/nope", "", bob, 404, "", nil},
		{"POST", v1 + "/token?application=a&deviceId=d", "", nobody(), 401, "", nil},
		{"POST", v1 + "/user/bob", "", nil, 405, "POST is not allowed", []string{"Allow: DELETE, GET, HEAD, PUT"}},
		{"POST", v1 + "/group/g", "", nil, 405, "POST is not allowed", []string{"Allow: DELETE, GET, HEAD, PUT"}},
		{"POST", v1 + "/user/bob/group/", "", nil, 405, "", nil},
		{"POST", v1 + "/user/bob/group/nope", "", nil, 404, "", nil},
		{"DELETE", v1 + "/user/bob/group/nope", "", nil, 404, "", nil},
		{"DELETE", v1 + "/user/nobody", "", nil, 404, "", nil},
		{"GET", v1 + "/user/", "", nil, 405, "", []string{"Allow: POST"}},
		{"GET", v1 + "/user/bob/", "", nil, 200, `"id":"bob"`, nil},
		{"GET", v1 + "/group/administrators/@users/@groups", "", nil, 404, "adapter @users", nil},
		{"GET", v1 + "/group/administrators/@users/x", "", nil, 404, "adapter @users", nil},
		{"GET", v1 + "/directory/nope", "", nil, 404, "nope", nil},
		{"GET", v1 + "/directory/continent/nope", "", nil, 404, "", nil},
		{"GET", v1 + "/directory?types=nope", "", nil, 200, `"entries":[]`, nil},
		{"GET", "/site/userInvitation/enterpassword/nope?key=x", "", nobody(), 404, "", []string{"Content-Type: text/html", "Content-Security-Policy: default-src 'none'"}},
		{"POST", "/site/userInvitation/enterpassword/nope", "key=x", nobody("Content-Type", "application/x-www-form-urlencoded"), 404, "", nil},
	})
}

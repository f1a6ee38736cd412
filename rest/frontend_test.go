package rest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"catena/rest"
	"catena/rest/resttest"
)

// exchange is what a client sends, and what it reads of the answer.
type exchange struct {
	name, method, path, body string
	headers                  []string
	status                   int // 0: 200
	holds                    []string
	lacks                    []string
}

// play sends requests in order.
func play(t *testing.T, s *resttest.Server, requests []exchange) {
	t.Helper()
	for _, r := range requests {
		got := s.Do(r.method, r.path, r.body, r.headers...)
		if want := max(r.status, http.StatusOK); got.StatusCode != want {
			t.Errorf("%s: status %d, want %d: %.400s", r.name, got.StatusCode, want, got.Text)
			continue
		}
		for _, text := range r.holds {
			if !strings.Contains(got.Text, text) {
				t.Errorf("%s: lacks %s: %.1500s", r.name, text, got.Text)
			}
		}
		for _, text := range r.lacks {
			if strings.Contains(got.Text, text) {
				t.Errorf("%s: contains %s: %.1500s", r.name, text, got.Text)
			}
		}
	}
}

// TestFrontEndSearches plays the searches of the platform's browser front end.
func TestFrontEndSearches(t *testing.T) {
	s := start(t)
	const pp = "/nuxeo/api/v1/search/pp/"
	play(t, s, []exchange{
		{name: "browse tree", method: "GET", path: pp + "tree_children/execute?pageSize=-1&queryParams=/", holds: []string{`"path":"/default-domain"`, `"isNextPageAvailable":false`}},
		{name: "provider's own size", method: "GET", path: pp + "tree_children/execute?queryParams=/", holds: []string{`"pageSize":50`}},
		{name: "a size as text", method: "GET", path: pp + "tree_children/execute?pageSize=1&queryParams=/default-domain", holds: []string{`"pageSize":1`, `"isNextPageAvailable":true`}},
		{name: "document picker", method: "GET", path: pp + "document_picker/execute?pageSize=40&fulltext_all=workspaces*", holds: []string{`"entries":[`}},
		{name: "collections", method: "GET", path: pp + "user_collections/execute?pageSize=40&searchTerm=%25&user=$currentUser&sortBy=dc:modified&sortOrder=desc", holds: []string{`"entries":[]`}},
		{name: "expired", method: "GET", path: pp + "expired_search/execute?pageSize=40&expired_max=2024-01-01T00:00:00.000Z", holds: []string{`"dc_expired_agg"`}},
		{name: "assets", method: "GET", path: pp + "assets_search/execute?pageSize=40&ecm_fulltext=x*", holds: []string{`"system_mimetype_agg"`, `"video_duration_agg"`}},
		{name: "trash", method: "GET", path: pp + "default_trash_search/execute?pageSize=40", holds: []string{`"common_size_agg"`}},
		{
			name: "where to publish", method: "POST", path: "/nuxeo/api/v1/automation/Repository.PageProvider",
			body: `{"params":{"providerName":"publish_space_suggestion","pageProviderName":"publish_space_suggestion","page":0,"pageSize":20,"searchTerm":""}}`, holds: []string{`"entries":[]`},
		},
		{
			name: "permissions of a user", method: "GET",
			path: "/nuxeo/api/v1/search/lang/NXQL/execute?query=" + url.QueryEscape(`SELECT * FROM Document WHERE ecm:mixinType != "HiddenInNavigation"AND ecm:isProxy = 0 AND ecm:isTrashed = 0AND ecm:acl/*1/principal = "members"`), holds: []string{`"path":"/default-domain/sections"`},
		},
		{
			name: "publications", method: "GET",
			path: "/nuxeo/api/v1/search/pp/nxql_search/execute?queryParams=" + url.QueryEscape(`SELECT * FROM Document WHERE ecm:isProxy = 1 AND ecm:isTrashed = 0AND (rend:sourceVersionableId = "1" OR ecm:proxyVersionableId = "1")`), holds: []string{`"entries":[]`},
		},
		{
			name: "a user with one group", method: "POST", path: "/nuxeo/api/v1/user", status: http.StatusCreated,
			body: `{"entity-type":"user","id":"","properties":{"username":"leela","groups":"members","password":"open sesame"}}`, holds: []string{`"groups":["members"]`},
		},
	})
}

// TestFormSignIn signs a browser in as the platform's front end does: a form, a cookie, and requests that send nothing else.
// Pages of other sites can send them too, and must not get anywhere.
func TestFormSignIn(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Rest: func(c *rest.Config) { c.FrontEnd = "/nuxeo/ui" }})
	form := url.Values{"user_name": {"Administrator"}, "user_password": {resttest.Password}, "requestedUrl": {s.URL + "/nuxeo/ui/#!/browse/"}}.Encode()
	wrong := url.Values{"user_name": {"Administrator"}, "user_password": {"wrong"}}.Encode()
	const typ = "application/x-www-form-urlencoded"
	if got := s.Do("GET", "/nuxeo/login.jsp?requestedUrl="+url.QueryEscape(s.URL+"/nuxeo/ui/"), "", "as", ""); got.StatusCode != http.StatusOK || !strings.Contains(got.Text, `id="username"`) || !strings.Contains(got.Text, `name="Submit"`) {
		t.Errorf("form: %d %.900s", got.StatusCode, got.Text)
	}
	if got := s.Do("POST", "/nuxeo/login", wrong, "as", "", "Content-Type", typ); got.StatusCode != http.StatusUnauthorized || got.Header.Get("Set-Cookie") != "" {
		t.Errorf("wrong password: %d %q", got.StatusCode, got.Header.Get("Set-Cookie"))
	}
	in := s.Do("POST", "/nuxeo/login", form, "as", "", "Content-Type", typ)
	cookie, _, _ := strings.Cut(in.Header.Get("Set-Cookie"), ";")
	if in.StatusCode != http.StatusSeeOther || in.Header.Get("Location") != "/nuxeo/ui/#!/browse/" || !strings.HasPrefix(cookie, rest.SessionCookie+"=") {
		t.Fatalf("sign-in: %d %q %q", in.StatusCode, in.Header.Get("Location"), cookie)
	}
	if got := s.Do("POST", "/nuxeo/login", strings.Replace(form, url.QueryEscape(s.URL), url.QueryEscape("https://evil.example"), 1), "as", "", "Content-Type", typ); got.Header.Get("Location") != "/nuxeo/ui/" {
		t.Errorf("another site's address: %q", got.Header.Get("Location"))
	}
	host := strings.TrimPrefix(s.URL, "http://")
	const login, create = "/nuxeo/api/v1/automation/login", `{"entity-type":"document","type":"Folder","name":"x"}`
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"login", "POST", login, "", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"login without a certificate", "POST", login, "", []string{"Origin", "http://" + host}, 200},
		{"a page of the same site", "POST", "/nuxeo/api/v1/path/", create, []string{"Sec-Fetch-Site", "same-site", "Origin", "http://other." + host}, 403},
		{"another page", "POST", "/nuxeo/api/v1/path/", create, []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403},
		{"a program", "POST", "/nuxeo/api/v1/path/", create, nil, 401},
		{"a picture in another page", "GET", "/nuxeo/api/v1/me", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 401},
		{"a link in another page", "GET", "/nuxeo/api/v1/me", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200},
		{"a link that makes a token", "GET", "/nuxeo/authentication/token?applicationName=a&deviceId=d&permission=rw", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 401},
		{"the deck service", "GET", "/v1/decks", "", []string{"Sec-Fetch-Site", "same-origin"}, 401},
		{"its own page", "POST", "/nuxeo/api/v1/path/", create, []string{"Sec-Fetch-Site", "same-origin"}, 201},
	} {
		got := s.Do(c.method, c.path, c.body, append([]string{"as", "", "Cookie", cookie}, c.headers...)...)
		if got.StatusCode != c.status {
			t.Errorf("%s: %d, want %d: %.300s", c.name, got.StatusCode, c.status, got.Text)
		}
	}
	if got := s.Do("POST", login, "", "as", "", "X-No-Basic-Header", "true"); got.StatusCode != http.StatusUnauthorized || got.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("login: %d %q", got.StatusCode, got.Header.Get("WWW-Authenticate"))
	}
	if got := s.Do("GET", "/nuxeo/nxpath/default/x@view_documents?tabIds=a", "", "as", ""); got.Header.Get("Location") != "/login.jsp?requestedUrl="+url.QueryEscape("/nuxeo/nxpath/default/x@view_documents?tabIds=a") {
		t.Errorf("nxpath of a guest: %q", got.Header.Get("Location"))
	}
	if got := s.Do("GET", "/nuxeo/nxpath/default/x@view_documents", ""); got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/nuxeo/ui/#!/doc/") {
		t.Errorf("nxpath: %d %q", got.StatusCode, got.Header.Get("Location"))
	}
	if got := s.Do("GET", "/nuxeo/nxdoc/default/1/view_documents", ""); got.Header.Get("Location") != "/nuxeo/ui/#!/doc/1" {
		t.Errorf("nxdoc: %q", got.Header.Get("Location"))
	}
	s.Do("GET", "/nuxeo/logout", "", "as", "", "Cookie", cookie)
	if got := s.Do("POST", login, "", "as", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin"); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("after logout: %d", got.StatusCode)
	}
}

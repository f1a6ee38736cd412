package rest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

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

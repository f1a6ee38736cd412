package rest_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"catena/rest"
	"catena/rest/resttest"
	"catena/rest/web/docs"
)

// TestManual reads every page of the manual without signing in, behind a proxy that adds a prefix, and follows its
// links on this server.
func TestManual(t *testing.T) {
	s := resttest.Start(t, resttest.Config{
		Rest: func(c *rest.Config) { c.Base = "https://example.org/behind/nuxeo/" },
	})
	href := regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	followed := map[string]bool{}
	for _, p := range docs.Pages() {
		got := s.Do("GET", p.Path(), "", "as", "")
		if h := got.Header; got.StatusCode != http.StatusOK || !strings.HasPrefix(h.Get("Content-Type"), "text/html") || h.Get("Etag") == "" ||
			h.Get("Cache-Control") != "public, max-age=3600" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %s %v", p.Path(), got.Status, h)
		}
		for _, l := range href.FindAllStringSubmatch(got.Text, -1) {
			address, _, _ := strings.Cut(l[1], "#")
			if address == "" || strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") || followed[address] {
				continue
			}
			followed[address] = true
			path, ok := strings.CutPrefix(address, "/behind")
			if a := s.Do("GET", path, "", "as", ""); !ok || a.StatusCode >= http.StatusBadRequest {
				t.Errorf("%s leads to %s: %s", p.Path(), address, a.Status)
			}
		}
	}
	if found := s.Do("GET", "/nuxeo/docs?q=backups", "", "as", ""); found.StatusCode != http.StatusOK || !strings.Contains(found.Text, `href="/behind/docs/operate#backups"`) {
		t.Errorf("search: %s %s", found.Status, found.Text)
	}
	if none := s.Do("GET", "/docs?q=%3Cxyzzy%3E", "", "as", ""); !strings.Contains(none.Text, "No section contains &lt;xyzzy&gt;") || strings.Contains(none.Text, "<xyzzy>") {
		t.Errorf("search: %s", none.Text)
	}
	if gone := s.Do("GET", "/docs/nope", "", "as", ""); gone.StatusCode != http.StatusNotFound || !strings.HasPrefix(gone.Header.Get("Content-Type"), "text/html") {
		t.Errorf("no page: %s %s", gone.Status, gone.Text)
	}
	if got := s.Do("GET", "/docs/operations", "", "as", ""); !strings.HasSuffix(got.Header.Get("Location"), "/ui/login?next=%2Fdocs%2Foperations") {
		t.Errorf("operations: %s %v", got.Status, got.Header)
	}
	if got := s.Do("GET", "/docs/operations", ""); got.StatusCode != http.StatusOK || !strings.Contains(got.Text, `id="op-`) {
		t.Errorf("operations: %s", got.Status)
	}
}

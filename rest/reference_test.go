package rest_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestReference reads the page about operations: what one may run is on it, nothing else.
func TestReference(t *testing.T) {
	s := start(t)
	s.User("bob")
	for _, tt := range []struct {
		as, has, lacks string
	}{
		{"Administrator", `id="op-Repository.Verify"`, `id="op-Document.AddACL"`}, // an alias stands with its operation
		{"Administrator", `<code>document</code> → <code>document</code>`, "<script>"},
		{"Administrator", `<td><code>xpath</code> required</td><td>string</td>`, "op-Nope"},
		{"bob", `id="op-Document.Create"`, `id="op-Repository.Verify"`},
	} {
		for _, path := range []string{"/site/automation/doc", "/nuxeo/site/automation/doc"} {
			got := s.Do("GET", path, "", "as", tt.as)
			if got.StatusCode != http.StatusOK || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") ||
				!strings.Contains(got.Text, tt.has) || strings.Contains(got.Text, tt.lacks) {
				t.Errorf("%s for %s: %d, has %q %v, lacks %q %v", path, tt.as, got.StatusCode, tt.has, strings.Contains(got.Text, tt.has), tt.lacks, !strings.Contains(got.Text, tt.lacks))
			}
		}
	}
	icon := s.Do("GET", "/nuxeo/icons/file.png", "", "as", "").Header.Get("Location")
	if got := s.Do("GET", icon, "", "as", ""); got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("icon %s: %d %s", icon, got.StatusCode, got.Header.Get("Content-Type"))
	}
	if got := s.Do("GET", "/site/automation/doc", "", "as", ""); got.StatusCode != http.StatusSeeOther || !strings.Contains(got.Header.Get("Location"), "/ui/login?next=") {
		t.Errorf("nobody: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
}

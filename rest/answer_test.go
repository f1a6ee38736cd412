package rest_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestAnswersCompressed: large answers are compressed for scripts of our own pages that can read it, and for nobody else.
func TestAnswersCompressed(t *testing.T) {
	s := startDecks(t, -1)
	cookie, csrf := signedIn(t, s, "alice")
	const registry = "/api/v1/automation"
	plain := s.Do("GET", registry, "", "as", "alice")
	for _, c := range []struct {
		what, path string
		headers    []string
		want       string
	}{
		{"a page", registry, []string{"Cookie", cookie, "X-CSRF-Token", csrf, "Accept-Encoding", "gzip, br"}, "gzip"},
		{"a page of a browser that does not read it", registry, []string{"Cookie", cookie, "X-CSRF-Token", csrf, "Accept-Encoding", "gzip;q=0"}, ""},
		{"a small answer", "/api/v1/me", []string{"Cookie", cookie, "X-CSRF-Token", csrf, "Accept-Encoding", "gzip"}, ""},
		{"a program", registry, []string{"as", "alice", "Accept-Encoding", "gzip"}, ""},
	} {
		got := s.Do("GET", c.path, "", append([]string{"as", ""}, c.headers...)...)
		if got.StatusCode != http.StatusOK || got.Header.Get("Content-Encoding") != c.want {
			t.Errorf("%s: %s, encoding %q, want %q", c.what, got.Status, got.Header.Get("Content-Encoding"), c.want)
			continue
		}
		if c.want == "" {
			continue
		}
		z, err := gzip.NewReader(strings.NewReader(got.Text))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil || string(text) != plain.Text || got.Header.Get("Vary") != "Accept-Encoding" || len(got.Text) > len(plain.Text)/3 {
			t.Errorf("%s: %v, %d bytes of %d, Vary %q", c.what, err, len(got.Text), len(plain.Text), got.Header.Get("Vary"))
		}
	}

	// A vocabulary is a file that an operation makes.
	const suggest, body = "/api/v1/automation/Directory.SuggestEntries", `{"params": {"directoryName": "l10ncoverage", "localize": true, "dbl10n": true, "limit": -1}}`
	whole := s.Do("POST", suggest, body, "as", "alice", "Accept-Encoding", "gzip")
	packed := s.Do("POST", suggest, body, "as", "", "Cookie", cookie, "X-CSRF-Token", csrf, "Accept-Encoding", "gzip")
	if whole.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Etag") != "" || len(packed.Text) > len(whole.Text)/3 {
		t.Fatalf("a vocabulary: %d bytes, compressed %d %v", len(whole.Text), len(packed.Text), packed.Header)
	}
	z, err := gzip.NewReader(strings.NewReader(packed.Text))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != whole.Text {
		t.Errorf("a vocabulary: %v, %d bytes of %d", err, len(text), len(whole.Text))
	}
}

package rest_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"catena/engine"
	"catena/rest/resttest"
	"catena/storage/fault"
)

// TestProblems follows the link of an error of every kind, and of one with a code of its own status, to the
// section about it, which tells the status that was answered and whether trying again helps.
func TestProblems(t *testing.T) {
	fail := engine.Op{
		Name: "Test.Fail", Doc: "Fails as it is told to.", Effect: engine.Pure,
		Run: engine.On(func(p text, _ *engine.Ctx, _ engine.Void) (string, error) {
			for k := range fault.Kinds() {
				if k.String() == p.Value {
					return "", k.Errorf("told to fail")
				}
			}
			return "", fault.Limit.Errorf("told to fail").WithCode(p.Value)
		}),
	}
	s := resttest.Start(t, resttest.Config{Ops: []engine.Op{fail}, Rules: testRules})
	var words []string
	for k := range fault.Kinds() {
		words = append(words, k.String())
	}
	if len(words) != 8 || slices.Contains(words, "") {
		t.Fatalf("kinds %q", words)
	}
	for _, word := range append(words, "rate_limited", "link_expired", fault.DiskFull) {
		a := s.Do("POST", "/api/v1/automation/Test.Fail", `{"params":{"value":"`+word+`"}}`)
		failed := a.JSON(t)
		link, _ := failed["type"].(string)
		page, anchor, _ := strings.Cut(link, "#")
		if anchor != word {
			t.Errorf("%s: %s", word, a.Text)
		}
		got := s.Do("GET", page, "", "as", "")
		_, section, found := strings.Cut(got.Text, ` id="`+anchor+`"`)
		section, _, _ = strings.Cut(section, ` id="`)
		if got.StatusCode != http.StatusOK || !found || !strings.Contains(section, strconv.Itoa(a.StatusCode)+" "+http.StatusText(a.StatusCode)) {
			t.Errorf("%s: %s: %s, section %s", link, a.Status, got.Status, section)
		}
		if slices.Contains(words, word) && strings.Contains(section, "Trying again later may help") != failed["retryable"].(bool) {
			t.Errorf("%s: retryable %v, section %s", link, failed["retryable"], section)
		}
	}
}

// TestProblemsKept reads the page about errors as nobody and as somebody: it is the same, and may be kept.
func TestProblemsKept(t *testing.T) {
	s := start(t)
	one := s.Do("GET", "/docs/problems", "", "as", "")
	h := one.Header
	if !strings.HasPrefix(h.Get("Content-Type"), "text/html") || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") ||
		h.Get("Cache-Control") != "public, max-age=3600" || strings.Contains(h.Get("Vary"), "Cookie") || h.Get("Etag") == "" {
		t.Errorf("headers %v", h)
	}
	if two := s.Do("GET", "/nuxeo/docs/problems", ""); two.Text != one.Text || two.Header.Get("Etag") != h.Get("Etag") {
		t.Errorf("for an administrator: %s %s", two.Status, two.Text)
	}
	if again := s.Do("GET", "/docs/problems", "", "as", "", "If-None-Match", h.Get("Etag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("again: %s", again.Status)
	}
}

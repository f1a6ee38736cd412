package rest_test

import (
	"cmp"
	"html"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"catena/engine"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage/fault"
)

// TestProblems follows the link of an error of every kind and of every code, behind a proxy that adds a prefix,
// to what the page says of it: the status that was answered, and whether trying again helps or what to do.
func TestProblems(t *testing.T) {
	fail := engine.Op{
		Name: "Test.Fail", Doc: "Fails as it is told to.", Effect: engine.Pure,
		Callers: engine.Anyone,
		Run: engine.On(func(p text, _ *engine.Ctx, _ engine.Void) (string, error) {
			kind, code, _ := strings.Cut(p.Value, " ")
			for k := range fault.Kinds() {
				if k.String() == kind {
					return "", k.Errorf("told to fail").WithCode(fault.CodeNamed(code))
				}
			}
			return "", nil
		}),
	}
	s := resttest.Start(t, resttest.Config{
		Ops:  []engine.Op{fail},
		Rest: func(c *rest.Config) { c.Base = "https://example.org/behind/nuxeo/" },
	})
	page := s.Do("GET", "/docs/problems", "", "as", "").Text
	follow := func(kind, code string) (section string, failed map[string]any) {
		t.Helper()
		a := s.Do("POST", "/api/v1/automation/Test.Fail", `{"params":{"value":"`+kind+" "+code+`"}}`)
		failed = a.JSON(t)
		word := cmp.Or(code, kind)
		if link := failed["type"]; link != "/behind/docs/problems#"+word {
			t.Errorf("%s: %s", word, a.Text)
		}
		_, section, found := strings.Cut(page, ` id="`+word+`"`)
		section, _, _ = strings.Cut(section, ` id="`)
		if section = html.UnescapeString(section); !found || !strings.Contains(section, strconv.Itoa(a.StatusCode)+" "+http.StatusText(a.StatusCode)) {
			t.Errorf("%s: %s, section %s", word, a.Status, section)
		}
		return section, failed
	}
	for k := range fault.Kinds() {
		if section, failed := follow(k.String(), ""); strings.Contains(section, "Trying again later may help") != failed["retryable"].(bool) {
			t.Errorf("%s: retryable %v, section %s", k, failed["retryable"], section)
		}
	}
	for c := range fault.Codes() {
		for _, k := range c.Kinds() {
			if section, _ := follow(k.String(), c.String()); !strings.Contains(section, c.When()) || !strings.Contains(section, c.Remedy()) || !strings.Contains(section, ">"+k.String()+"<") {
				t.Errorf("%s: section %s", c, section)
			}
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

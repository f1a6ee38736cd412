package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"catena/rest"
	"catena/rest/resttest"
)

// TestFigures counts connections and asynchronous runs. Only administrators see the figures, and nobody does where they
// are shown at an address of their own.
func TestFigures(t *testing.T) {
	s := startOne(t)
	s.Do("POST", "/api/v1/automation/Test.Wait/@async", `{"params":{"millis":600000}}`)
	shown := s.Do("GET", "/metrics", "").Text
	for _, want := range []string{"\ncatena_async_runs{state=\"running\"} 1\n", "\ncatena_async_runs{state=\"over\"} 0\n", "\ncatena_http_connections "} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %s", want, shown)
		}
	}
	s.User("bob")
	for status, headers := range map[int][]string{
		http.StatusUnauthorized: {"as", ""}, http.StatusForbidden: {"as", "bob"}, http.StatusOK: bearer(s.Key("Administrator", "read_only")),
	} {
		if got := s.Do("GET", "/metrics", "", headers...); got.StatusCode != status || strings.Contains(got.Text, "catena_http_requests_total") != (status == http.StatusOK) {
			t.Errorf("%v: %s %.300s", headers, got.Status, got.Text)
		}
	}
	s = resttest.Start(t, resttest.Config{Rest: func(c *rest.Config) { c.NoMetrics = true }})
	if got := s.Do("GET", "/metrics", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("shown elsewhere: %s", got.Status)
	}
}

// TestSecurityTxt: the file names the address to which weaknesses are reported, and exists only if there is one.
func TestSecurityTxt(t *testing.T) {
	const at, contact = "/.well-known/security.txt", "mailto:security@example.org"
	if got := start(t).Do("GET", at, "", "as", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("no contact: %s", got.Status)
	}
	s := resttest.Start(t, resttest.Config{Rest: func(c *rest.Config) { c.Contact = contact }})
	got := s.Do("GET", at, "", "as", "")
	told, expires, ok := strings.Cut(got.Text, "\nExpires: ")
	until, err := time.Parse(time.RFC3339, strings.TrimSpace(expires))
	if got.StatusCode != http.StatusOK || told != "Contact: "+contact || !ok || err != nil || until.Before(time.Now()) || until.After(time.Now().AddDate(1, 0, 0)) ||
		!strings.HasPrefix(got.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("%s %v %s", got.Status, got.Header, got.Text)
	}
}

// TestReadiness: without a part the server is degraded and gets traffic, without what all
// work needs it gets none.
func TestReadiness(t *testing.T) {
	var disk, workers error
	s := resttest.Start(t, resttest.Config{Rest: func(c *rest.Config) {
		c.Ready = []rest.Check{
			{Name: "storageStatus", Test: func(context.Context) error { return disk }},
			{Name: "scriptStatus", Test: func(context.Context) error { return workers }, Part: true},
		}
	}})
	for _, c := range []struct {
		disk, workers   error
		ready, running  int
		storage, script string
	}{
		{nil, nil, 200, 200, "ok", "ok"},
		{nil, errors.New("no process"), 200, 200, "ok", "degraded"},
		{errors.New("disk full"), nil, 503, 500, "failed", "ok"},
	} {
		disk, workers = c.disk, c.workers
		for path, status := range map[string]int{"/readyz": c.ready, "/nuxeo/runningstatus": c.running, "/healthz": 200} {
			got := s.Do("GET", path, "")
			if got.StatusCode != status {
				t.Errorf("%s with %v, %v: status %d, want %d", path, c.disk, c.workers, got.StatusCode, status)
			}
			for name, state := range map[string]string{"storageStatus": c.storage, "scriptStatus": c.script} {
				if path != "/healthz" && !strings.Contains(got.Text, `"`+name+`":"`+state+`"`) {
					t.Errorf("%s with %v, %v: %s is not %s in %s", path, c.disk, c.workers, name, state, got.Text)
				}
			}
		}
	}
}

package rest_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"catena/rest"
	"catena/rest/resttest"
	"catena/rest/server"
)

// lines are those of a log of requests.
type lines chan string

// Write adds a line.
func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// noReader takes the head of an answer and nothing else.
type noReader struct{ httptest.ResponseRecorder }

func (*noReader) Write([]byte) (int, error) { return 0, errors.New("gone") }

// TestAccess reads the log of requests: a line for each with the same fields, and none of the secrets that addresses hold.
func TestAccess(t *testing.T) {
	log := make(lines, 1)
	var handler http.Handler
	s := resttest.Start(t, resttest.Config{Rest: func(c *rest.Config) {
		c.Access = slog.New(slog.NewJSONHandler(log, nil))
		own := *c
		own.Metrics = nil
		handler = server.New(own)
	}})
	const secret = "Sesame-1234"
	for _, x := range []struct{ method, path, as, want string }{
		{"GET", "/healthz?token=" + secret, "", "/healthz"},
		{"GET", api + "/path/", "Administrator", api + "/path/"},
		{"GET", "/share/" + secret + "/live", "Guest", "/share/…/live"},
		{"GET", "/share/" + secret, "Guest", "/share/…"},
		{"DELETE", api + "/token/" + secret, "Administrator", api + "/token/…"},
		{"DELETE", api + "/repo/default/token/" + secret, "Administrator", api + "/repo/default/token/…"},
		{"GET", "/site/userInvitation/enterpassword/" + secret, "", "/site/userInvitation/enterpassword/…"},
		{"GET", api + "/oauth2/token/client/c/user/u", "Administrator", api + "/oauth2/token/client/c/user/u"},
		{"GET", api + "/path/?token=" + secret, "", api + "/path/"},
	} {
		as := strings.TrimPrefix(x.as, "Guest")
		a := s.Do(x.method, x.path, "", "as", as, "X-Request-Id", "r-1", "User-Agent", "tester", "Traceparent", "00-"+strings.Repeat("a", 32)+"-"+strings.Repeat("b", 16)+"-01")
		text, line := logged(t, log)
		if line["path"] != x.want || line["method"] != x.method || line["status"] != float64(a.StatusCode) || line["bytes"] != float64(len(a.Text)) || line["cut"] != false ||
			line["user"] != x.as || line["requestId"] != "r-1" || line["agent"] != "tester" || line["traceId"] != strings.Repeat("a", 32) || line["remote"] != "127.0.0.1" {
			t.Errorf("%s %s: %s: %v", x.method, x.path, a.Status, line)
		}
		if strings.Contains(text, secret) {
			t.Errorf("the log tells a secret: %s", text)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+api+"/backup", nil)
	r.SetBasicAuth("Administrator", resttest.Password)
	handler.ServeHTTP(&noReader{}, r)
	if _, line := logged(t, log); line["cut"] != true || line["status"] != float64(200) || line["bytes"] != float64(0) {
		t.Errorf("cut: %v", line)
	}
}

// logged is the next line of the log.
func logged(t *testing.T, log lines) (text string, line map[string]any) {
	t.Helper()
	text = <-log
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	want := []string{"agent", "bytes", "cut", "level", "method", "msg", "path", "remote", "requestId", "seconds", "status", "time", "traceId", "user"}
	if got := slices.Sorted(maps.Keys(line)); !slices.Equal(got, want) {
		t.Errorf("fields %q", got)
	}
	return text, line
}

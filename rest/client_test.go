package rest_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
	"catena/rest/server"
)

func networks(texts ...string) (out []netip.Prefix) {
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// TestClientAddress asks by proxies that are trusted and by others, with headers that are theirs and made up.
func TestClientAddress(t *testing.T) {
	log := make(lines, 1)
	var handler http.Handler
	resttest.Start(t, resttest.Config{Rest: func(c *rest.Config) {
		own := *c
		own.Access, own.Metrics = slog.New(slog.NewJSONHandler(log, nil)), nil
		own.Proxies = networks("10.0.0.0/8", "2001:db8:1::/48", "127.0.0.1/32")
		handler = server.New(own)
	}})
	const proxy, stranger = "10.0.0.1:4711", "192.0.2.7:4711"
	for _, c := range []struct {
		peer, headers, want string // headers: name: value, one a line
	}{
		{stranger, "", "192.0.2.7"},
		{proxy, "", "10.0.0.1"},
		{proxy, "X-Forwarded-For: 203.0.113.9", "203.0.113.9"},
		{stranger, "X-Forwarded-For: 203.0.113.9", "192.0.2.7"},
		{stranger, "Forwarded: for=203.0.113.9", "192.0.2.7"},
		{stranger, "X-Forwarded-For: 10.0.0.1", "192.0.2.7"},
		{"[::ffff:10.0.0.1]:80", "X-Forwarded-For: 203.0.113.9", "203.0.113.9"},
		{"[2001:db8:1::5]:80", "X-Forwarded-For: 2001:db8:2::9", "2001:db8:2::9"},
		{proxy, "X-Forwarded-For: 1.1.1.1, 203.0.113.9", "203.0.113.9"},
		{proxy, "X-Forwarded-For: 1.1.1.1, 203.0.113.9, 10.2.0.3", "203.0.113.9"},
		{proxy, "X-Forwarded-For: 1.1.1.1\nX-Forwarded-For: 203.0.113.9\nX-Forwarded-For: 10.2.0.3", "203.0.113.9"},
		{proxy, "X-Forwarded-For: 10.3.0.1, 10.2.0.3", "10.3.0.1"},
		{proxy, "X-Forwarded-For: unknown, 10.2.0.3", "10.2.0.3"},
		{proxy, "X-Forwarded-For: 203.0.113.9:1234", "203.0.113.9"},
		{proxy, "X-Forwarded-For: [2001:db8:2::9]:1234", "2001:db8:2::9"},
		{proxy, "X-Forwarded-For: garbage", "10.0.0.1"},
		{proxy, "X-Forwarded-For:", "10.0.0.1"},
		{proxy, "X-Forwarded-For: 203.0.113.9\nForwarded: for=1.1.1.1", "203.0.113.9"},
		{proxy, "Forwarded: for=203.0.113.9", "203.0.113.9"},
		{proxy, `Forwarded: proto=https;For="[2001:db8:2::9]:4711";by=10.0.0.1`, "2001:db8:2::9"},
		{proxy, "Forwarded: for=1.1.1.1, for=203.0.113.9;proto=http, for=10.2.0.3", "203.0.113.9"},
		{proxy, `Forwarded: for=203.0.113.9;host="a, for=1.1.1.1"`, "203.0.113.9"},
		{proxy, `Forwarded: for="1.1.1.1, for=203.0.113.9`, "203.0.113.9"},
		{proxy, `Forwarded: for=_hidden`, "10.0.0.1"},
		{proxy, `Forwarded: by=1.1.1.1`, "10.0.0.1"},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil)
		r.RemoteAddr = c.peer
		for line := range strings.Lines(c.headers) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			r.Header.Add(name, strings.TrimSpace(value))
		}
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if _, line := logged(t, log); line["remote"] != c.want {
			t.Errorf("%s %s: %v, want %s", c.peer, c.headers, line["remote"], c.want)
		}
	}
}

// TestClientBehindProxy has the same client exempt from rates, and its failed runs tell its address, if its proxy is trusted
// and not otherwise.
func TestClientBehindProxy(t *testing.T) {
	for _, c := range []struct {
		proxies []netip.Prefix
		last    int
		remote  string
	}{{networks("127.0.0.0/8"), http.StatusOK, "203.0.113.9"}, {networks("192.0.2.0/24"), http.StatusTooManyRequests, "127.0.0.1"}} {
		s := resttest.Start(t, resttest.Config{Ops: slices.Concat(decks.Ops(), testOps), Single: true, Repo: decks.Listen, Rest: func(r *rest.Config) {
			r.Limits.Rate, r.RateExempt, r.Proxies = 2, networks("203.0.113.0/24"), c.proxies
		}})
		s.User("alice")
		key := s.Key("alice", "read_write")
		through := bearer(key, "X-Forwarded-For", "10.9.9.9, 203.0.113.9")
		for i := range 3 {
			got := s.Do("GET", "/v1/user", "", through...)
			if want := []int{http.StatusOK, http.StatusOK, c.last}[i]; got.StatusCode != want {
				t.Errorf("%v: request %d: %s", c.proxies, i, got.Status)
			}
		}
		answers(t, s.Do("POST", "/api/v1/automation/Test.Fail", `{"params":{"kind":"limit"}}`, through...), http.StatusUnprocessableEntity, "")
		s.Do("POST", "/mcp/automation", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_operation","arguments":{"operation":"Test.Fail","params":{"kind":"limit"}}}}`,
			"Accept", "application/json, text/event-stream", "X-Forwarded-For", "203.0.113.9", "X-Request-Id", "by-mcp")
		for i, entryPoint := range []string{"mcp", "rest"} {
			if r := failed(t, s, "")[i]; r["remote"] != c.remote || r["door"] != entryPoint || (r["requestId"] == "by-mcp") != (entryPoint == "mcp") {
				t.Errorf("%v: a run %v, want %s by %s", c.proxies, r, c.remote, entryPoint)
			}
		}
	}
}

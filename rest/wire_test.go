package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"catena/rest"
	"catena/rest/resttest"
	"catena/rest/server"
)

func TestControlsOverTheWire(t *testing.T) {
	s := start(t)
	const ws = "/default-domain/workspaces"
	cases := []struct {
		name, method, path, body string
		headers                  []string
		holds, lacks             string
	}{
		{
			"both property headers", "POST", "/api/v1/automation/Repository.GetDocument", `{"params":{"value":"` + ws + `"}}`,
			[]string{"X-NXproperties", "*", "X-NXDocumentProperties", "dublincore"},
			`"common:icon"`, "",
		},
		{
			"old form in the body", "POST", "/api/v1/automation/Repository.GetDocument", `{"params":{"value":"` + ws + `"},"documentProperties":"dublincore"}`,
			nil, `"dc:title"`, `"common:icon"`,
		},
		{"neutral header", "GET", "/api/v1/path" + ws, "", []string{"X-Platform-Properties", "dublincore"}, `"dc:title"`, `"common:icon"`},
		{"nothing asked", "GET", "/api/v1/path" + ws, "", nil, `"title"`, `"contextParameters"`},
		{"enricher", "GET", "/api/v1/path" + ws, "", []string{"X-NXenrichers.document", "breadcrumb, nonsense"}, `"breadcrumb":{"entity-type":"documents"`, "nonsense"},
		{"enricher as parameter", "GET", "/api/v1/path" + ws + "?enrichers.document=permissions", "", nil, `"permissions":[`, ""},
		{"fetch", "GET", "/api/v1/path" + ws + "?properties=dublincore&fetch.document=properties", "", nil, `"dc:title"`, ""},
		{"input with prefix", "POST", "/site/automation/Document.GetParent", `{"input":"doc:` + ws + `"}`, nil, `"path":"/default-domain"`, ""},
		{"input without prefix", "POST", "/site/automation/Document.GetParent", `{"input":"` + ws + `"}`, nil, `"path":"/default-domain"`, ""},
		{"several documents", "POST", "/site/automation/Document.GetParent", `{"input":"docs:` + ws + `,/default-domain"}`, nil, `"entries":[{"entity-type":"document"`, ""},
		{"entity", "POST", "/site/automation/Document.GetParent", `{"input":{"entity-type":"document","path":"` + ws + `"}}`, nil, `"path":"/default-domain"`, ""},
	}
	for _, c := range cases {
		got := s.Do(c.method, c.path, c.body, c.headers...)
		if got.StatusCode != http.StatusOK || !strings.Contains(got.Text, c.holds) || c.lacks != "" && strings.Contains(got.Text, c.lacks) {
			t.Errorf("%s: %d %.400s", c.name, got.StatusCode, got.Text)
		}
	}
}

func TestRegistry(t *testing.T) {
	s := start(t)
	s.User("bob")
	all := s.Do("GET", "/nuxeo/site/automation", "")
	if all.StatusCode != http.StatusOK || !strings.Contains(all.Text, `"paths":{"login":"login"}`) || !strings.Contains(all.Text, `"id":"Auth.LoginAs"`) {
		t.Errorf("administrator: %d %.200s", all.StatusCode, all.Text)
	}
	some := s.Do("GET", "/nuxeo/site/automation", "", "as", "bob")
	if some.StatusCode != http.StatusOK || strings.Contains(some.Text, `"id":"Auth.LoginAs"`) || !strings.Contains(some.Text, `"id":"Document.Create"`) {
		t.Errorf("bob: %d", some.StatusCode)
	}
	for _, path := range []string{"Document.Create", "Test.Broken", "Document.Fetch?pretty=true"} {
		if got := s.Do("GET", "/api/v1/automation/"+path, ""); got.StatusCode != http.StatusOK || !strings.Contains(got.Text, `"signature":`) {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.Text)
		}
	}
	for _, method := range []string{"GET", "POST"} {
		got := s.Do(method, "/api/v1/automation/Auth.LoginAs", map[string]string{"POST": "{}"}[method], "as", "bob")
		if got.StatusCode != http.StatusNotFound {
			t.Errorf("%s what bob may not run: %d %s", method, got.StatusCode, got.Text)
		}
	}
}

func TestRequestLimits(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: testOps, Single: true, Rest: func(c *rest.Config) {
		c.Limits.Body, c.Limits.UserRuns = 100*time.Millisecond, 1
	}})
	slow, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "POST /api/v1/automation/Test.Echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", basic)
	began := time.Now()
	answer, _ := io.ReadAll(slow)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 400") || time.Since(began) > 5*time.Second {
		t.Errorf("body that does not come: after %s %.100s", time.Since(began), answer)
	}
	late := s.Do("POST", "/api/v1/automation/Test.Wait", `{"params":{"millis":30000}}`, "Nuxeo-Transaction-Timeout", "1")
	if late.StatusCode != http.StatusInternalServerError {
		t.Errorf("transaction timeout: %d %s", late.StatusCode, late.Text)
	}
	for i, want := range []int{202, 503} {
		got := s.Do("POST", "/api/v1/automation/Test.Wait/@async", `{"params":{"millis":30000}}`)
		if got.StatusCode != want {
			t.Errorf("run %d: %d %s", i, got.StatusCode, got.Text)
		}
	}
	if got := s.Do("GET", "/api/v1/capabilities", "", "X-Request-Id", "bad id\t"); got.Header.Get("X-Request-Id") == "bad id\t" || got.Header.Get("X-Request-Id") == "" {
		t.Errorf("request id %q", got.Header.Get("X-Request-Id"))
	}
}

func TestMount(t *testing.T) {
	who := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if p := rest.PrincipalOf(r.Context()); p != nil {
			name = p.Name
		}
		io.WriteString(w, name)
	})
	s := resttest.Start(t, resttest.Config{Rest: func(c *rest.Config) {
		c.Mounts = []rest.Mount{{Path: "/mcp", Handler: who}, {Path: "/ui", Handler: who, Open: true}}
	}})
	cases := []struct {
		path, as string
		status   int
		text     string
	}{
		{"/mcp", "Administrator", 200, "Administrator"},
		{"/mcp/automation", "Administrator", 200, "Administrator"},
		{"/ui/x", "", 200, "nobody"},
		{"/mcp", "", 401, ""},
		{"/mcpx", "", 404, ""},
	}
	for _, c := range cases {
		got := s.Do("GET", c.path, "", "as", c.as)
		if got.StatusCode != c.status || c.text != "" && got.Text != c.text {
			t.Errorf("%s: %d %s", c.path, got.StatusCode, got.Text)
		}
	}
}

// TestPathMutations damages the address of a document in many ways: what comes back is that
// document or a refusal, never another document, a redirect, a page or a fault.
func TestPathMutations(t *testing.T) {
	s := start(t)
	const good = "/nuxeo/api/v1/path/default-domain/workspaces"
	uid := s.Do("GET", good, "").JSON(t)["uid"]
	bits := []string{"%00", "%2e%2e", "..", "/../", "//", "%2f", "\\", ";", "%5c", "@", "/@", "%25", "%c0%af", "%", "+", "?", "/./", "%20", "é", "*"}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		path := good
		for range 1 + rnd.IntN(2) {
			at := len("/nuxeo/api/v1/path/") + rnd.IntN(len(path)-len("/nuxeo/api/v1/path/")+1)
			path = path[:at] + bits[rnd.IntN(len(bits))] + path[at:]
		}
		status, body := raw(t, s, path)
		switch {
		case status == http.StatusOK && !strings.Contains(body, fmt.Sprintf(`"uid":"%s"`, uid)):
			// The damaged end may leave an ancestor's address in front of a query.
			if !strings.Contains(path, "?") {
				t.Errorf("%q: another document: %.200s", path, body)
			}
		case status != http.StatusOK && status != http.StatusBadRequest && status != http.StatusNotFound:
			t.Errorf("%q: %d %.200s", path, status, body)
		case strings.Contains(body, "<html"):
			t.Errorf("%q: a page: %.200s", path, body)
		}
	}
}

// raw sends a request line as it is.
func raw(t *testing.T, s *resttest.Server, path string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\nConnection: close\r\n\r\n", path, basic)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

func TestOwnPrincipal(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: testOps})
	h := server.New(rest.Config{Engine: s.Engine, As: s.Repo.System(), Log: slog.New(slog.DiscardHandler)})
	defer h.Close()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/api/v1/path/default-domain", nil))
	if w.Code != http.StatusOK {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

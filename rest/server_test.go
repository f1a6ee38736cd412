package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/chains"
	"catena/engine"
	"catena/engine/library"
	"catena/engine/schedule"
	"catena/engine/waiting"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage/fault"
)

// Operations that only tests have.
var testOps = []engine.Op{
	{Name: "Test.Nothing", Doc: "Does nothing.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(nothing)},
	{Name: "Test.Panic", Doc: "Panics.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(explode)},
	{Name: "Test.Echo", Doc: "Returns its parameter.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(echo)},
	{Name: "Test.Wait", Doc: "Waits.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(wait)},
	{Name: "Test.Fail", Doc: "Fails.", Effect: engine.Pure, Callers: engine.Anyone, Aliases: []string{"Test.Broken"}, Run: engine.On(fail)},
}

// deployed are the chains of a server, and those that wait.
func deployed() library.Deployments {
	return library.Deployments{chains.New(), waiting.New(), schedule.New()}
}

type none struct{}

func nothing(none, *engine.Ctx, engine.Void) (engine.Void, error) { return engine.Void{}, nil }
func explode(none, *engine.Ctx, engine.Void) (engine.Void, error) { panic("boom") }

type text struct {
	Value string `json:"value" doc:"Text."`
}

func echo(p text, _ *engine.Ctx, _ engine.Void) (string, error) { return p.Value, nil }

type pause struct {
	Millis int64 `json:"millis" doc:"How long."`
}

func wait(p pause, c *engine.Ctx, _ engine.Void) (string, error) {
	select {
	case <-time.After(time.Duration(p.Millis) * time.Millisecond):
		return "done", nil
	case <-c.Done():
		return "", c.Err()
	}
}

type kind struct {
	Kind string `json:"kind" doc:"Kind of error."`
	Code string `json:"code,omitzero" doc:"Its code."`
}

func fail(p kind, _ *engine.Ctx, _ engine.Void) (engine.Void, error) {
	for k := fault.Internal; k <= fault.Unavailable; k++ {
		if k.String() == p.Kind {
			return engine.Void{}, k.Errorf("subject: reason").WithCode(fault.CodeNamed(p.Code))
		}
	}
	return engine.Void{}, nil
}

func start(t testing.TB) *resttest.Server {
	t.Helper()
	return resttest.Start(t, resttest.Config{Ops: testOps})
}

// startOne is start for what a server has for itself: figures.
func startOne(t testing.TB) *resttest.Server {
	t.Helper()
	return resttest.Start(t, resttest.Config{Ops: testOps, Single: true})
}

const document = `{"entity-type":"document","type":"File","name":%q,"properties":{"dc:title":"hello"}}`

func TestAddresses(t *testing.T) {
	s := start(t)
	cases := []struct {
		method, path string
		status       int
		holds        string
	}{
		{"GET", "/api/v1/path/", 200, `"path":"/"`},
		{"GET", "/api/v1/path", 200, `"path":"/"`},
		{"GET", "/nuxeo/api/v1/path/default-domain", 200, `"path":"/default-domain"`},
		{"GET", "/nuxeo/site/api/v1/path/default-domain/", 200, `"path":"/default-domain"`},
		{"GET", "/api/v1/repo/default/path/default-domain/workspaces", 200, `"title":"Workspaces"`},
		{"GET", "/api/v1/repo/default/me", 200, `"entity-type":"user"`},
		{"GET", "/api/v1/repo/other/path/", 404, `repository other`},
		{"GET", "/api/v1/path/nope", 404, `"message":"/nope"`},
		{"GET", "/api/v1/id/nope", 404, `"message":"nope"`},
		{"GET", "/api/v1/path/a/../default-domain", 400, `segment`},
		{"GET", "/api/v1/path/a/%2e%2e/default-domain", 400, `segment`},
		{"GET", "/api/v1/path/a%00b", 400, `not text`},
		{"GET", "/api/v1/foo/bar", 404, `"message":"Type not found: foo"`},
		{"GET", "/nuxeo/test", 404, `"entity-type":"exception"`},
		{"GET", "/api/v1/path/default-domain/@nope", 404, `adapter @nope`},
		{"PATCH", "/api/v1/path/default-domain", 405, `not allowed`},
		{"POST", "/api/v1/path/default-domain/@acl", 405, `not allowed`},
		{"GET", "/api/v1/path//@children", 200, `"entity-type":"documents"`},
		{"GET", "/api/v1/path/@children", 200, `"resultsCount":1,`},
		{"GET", "/api/v1/path/default-domain/@acl", 200, `"entity-type":"acls"`},
		{"GET", "/api/v1/path/default-domain/@audit", 200, `"entity-type":"logEntries"`},
		{"GET", "/api/v1/@emptyWithDefault?type=File", 200, `"type":"File"`},
		{"GET", "/api/v1/@emptyWithDefault", 400, `Missing type parameter`},
		{"GET", "/api/v1/search/execute?query=SELECT+*+FROM+Domain", 200, `"resultsCount":1`},
		{"GET", "/api/v1/search/lang/NXQL/execute?query=SELECT+*+FROM+Domain", 200, `"resultsCount":1`},
		{"GET", "/api/v1/search/execute?query=EXPLAIN+SELECT+*+FROM+Domain", 200, `"plan":["query: SELECT * FROM Domain","access: `},
		{"GET", "/api/v1/query?query=explain+SELECT+*+FROM+Domain", 200, `"plan":["query: SELECT * FROM Domain","access: `},
		{"GET", "/api/v1/search/pp/nxql_search/execute?queryParams=EXPLAIN+SELECT+*+FROM+Domain", 200, `"plan":["query: SELECT * FROM Domain","access: `},
		{"GET", "/api/v1/path/default-domain/@search?query=EXPLAIN+SELECT+*+FROM+Domain", 200, `"plan":["query: SELECT * FROM Domain","access: `},
		{"GET", "/api/v1/search/lang/SQL/execute?query=x", 400, `only NXQL`},
		{"GET", "/api/v1/query?query=SELECT+*+FROM+Document+WHERE+ecm:path=:p&p=/default-domain", 200, `"resultsCount":1`},
		{"GET", "/api/v1/query?query=SELECT+*+FROM+Domain&queryParams=", 200, `"resultsCount":1`},
		{"GET", "/api/v1/query?query=SELECT+*+FROM+Domain&queryParams=x", 400, `1 parameters given, 0 expected`},
		{"GET", "/api/v1/query/NXQL?query=SELECT+nonsense", 400, `"entity-type":"exception"`},
		{"GET", "/api/v1/config/types", 200, `"doctypes":{`},
		{"GET", "/api/v1/config/types/File", 200, `"entity-type":"docType"`},
		{"GET", "/api/v1/config/types/Nope", 404, `Nope`},
		{"GET", "/api/v1/config/schemas", 200, `[{`},
		{"GET", "/api/v1/config/schemas/dublincore", 200, `"@prefix":"dc"`},
		{"GET", "/api/v1/config/facets/Folderish", 200, `"entity-type":"facet"`},
		{"GET", "/api/v1/capabilities", 200, `"distributionVersion":"2023.10"`},
		{"GET", "/api/v1/capabilities", 200, `"programVersion":"dev"`},
		{"GET", "/nuxeo/json/cmis", 200, `"productVersion":"2023.10"`},
		{"GET", "/nuxeo/runningstatus", 200, `"repositoryStatus":"ok"`},
		{"GET", "/runningstatus?info=started", 200, `true`},
		{"GET", "/runningstatus?info=probe&key=nope", 404, `probe nope`},
		{"GET", "/healthz", 200, `ok`},
		{"GET", "/readyz", 200, `"ok"`},
		{"GET", "/metrics", 200, `catena_http_requests_total`},
		{"POST", "/api/v1/automation/login", 200, `"username":"Administrator"`},
		{"GET", "/api/v1/user/Administrator", 200, `"id":"Administrator"`},
		{"GET", "/api/v1/user/nobody", 404, `"status":404`},
	}
	for _, c := range cases {
		got := s.Do(c.method, c.path, "")
		if got.StatusCode != c.status || !strings.Contains(got.Text, c.holds) {
			t.Errorf("%s %s: got %d %.300s", c.method, c.path, got.StatusCode, got.Text)
		}
		if got.StatusCode == http.StatusMethodNotAllowed && got.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.path)
		}
	}
}

func TestNames(t *testing.T) {
	s := start(t)
	names := []struct{ name, escaped string }{
		{"a b", "a%20b"},
		{"doc with @ and @", "doc%20with%20@%20and%20@"},
		{"[x];#$,&?=+", "%5Bx%5D%3B%23%24%2C%26%3F%3D%2B"},
		{"ミカエル", "%E3%83%9F%E3%82%AB%E3%82%A8%E3%83%AB"},
		{"100%25", "100%2525"},
		{"@acl", "%40acl"},
		{"c:d", "c:d"},
		{"raw+plus", "raw+plus"},
	}
	for _, n := range names {
		made := s.Do("POST", "/api/v1/path/default-domain/workspaces", fmt.Sprintf(document, n.name))
		if made.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %s", n.name, made.Text)
		}
		got := s.Do("GET", "/api/v1/path/default-domain/workspaces/"+n.escaped+"/", "")
		if got.StatusCode != http.StatusOK || got.JSON(t)["path"] != "/default-domain/workspaces/"+n.name {
			t.Errorf("%s: %d %s", n.name, got.StatusCode, got.Text)
		}
	}
}

func TestDocumentLife(t *testing.T) {
	s := start(t)
	made := s.Do("POST", "/api/v1/path/default-domain/workspaces", fmt.Sprintf(document, "a"), "properties", "dublincore")
	if made.StatusCode != http.StatusCreated || !strings.Contains(made.Text, `"dc:title":"hello"`) {
		t.Fatalf("create: %d %s", made.StatusCode, made.Text)
	}
	id := made.JSON(t)["uid"].(string)
	tag := made.Header.Get("ETag")
	if got := s.Do("GET", "/api/v1/id/"+id, "", "properties", "dublincore", "If-None-Match", tag); got.StatusCode != http.StatusNotModified || got.Text != "" {
		t.Errorf("unchanged: %d %s, tag %s and %s", got.StatusCode, got.Text, tag, got.Header.Get("ETag"))
	}
	plain := s.Do("GET", "/api/v1/id/"+id, "")
	if strings.Contains(plain.Text, `"properties"`) || plain.Header.Get("ETag") == tag {
		t.Errorf("without control: %s", plain.Text)
	}
	change := `{"entity-type":"document","properties":{"dc:title":"bye"}}`
	if got := s.Do("PUT", "/api/v1/id/"+id, change, "If-Match", `"0-99.x"`); got.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("other state: %d %s", got.StatusCode, got.Text)
	}
	put := s.Do("PUT", "/api/v1/id/"+id, change, "If-Match", tag)
	if put.StatusCode != http.StatusOK || put.JSON(t)["title"] != "bye" {
		t.Errorf("update: %d %s", put.StatusCode, put.Text)
	}
	if got := s.Do("PUT", "/api/v1/id/"+id, change, "If-Match", tag); got.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("stale tag: %d %s", got.StatusCode, got.Text)
	}
	stale := `{"entity-type":"document","changeToken":"0-0","properties":{"dc:title":"x"}}`
	if got := s.Do("PUT", "/api/v1/id/"+id, stale); got.StatusCode != http.StatusConflict || !strings.Contains(got.Text, id+", Invalid change token") {
		t.Errorf("stale token: %d %s", got.StatusCode, got.Text)
	}
	head := s.Do("HEAD", "/api/v1/id/"+id, "")
	if head.StatusCode != http.StatusOK || head.Text != "" || head.Header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %d %v", head.StatusCode, head.Header)
	}
	if got := s.Do("DELETE", "/api/v1/id/"+id, ""); got.StatusCode != http.StatusNoContent || got.Text != "" {
		t.Errorf("delete: %d %s", got.StatusCode, got.Text)
	}
	if got := s.Do("GET", "/api/v1/id/"+id, ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("after delete: %d", got.StatusCode)
	}
}

func TestBodies(t *testing.T) {
	s := start(t)
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	cases := []struct {
		name, path, typ, body string
		status                int
		holds                 string
	}{
		{"plain", "Test.Echo", "application/json", `{"params":{"value":"x"}}`, 200, `{"entity-type":"string","value":"x"}`},
		{"request type", "Test.Echo", "application/json+nxrequest", `{"params":{"value":"x"}}`, 200, `"x"`},
		{"neutral type", "Test.Echo", "application/json+platformrequest; charset=UTF-8", `{"params":{"value":"é"}}`, 200, `"é"`},
		{"form", "Test.Echo", "application/x-www-form-urlencoded", `jsondata=%7B%22params%22%3A%7B%22value%22%3A%22x%22%7D%7D`, 200, `"x"`},
		{"nulls", "Test.Nothing", "application/json", `{"input":null,"params":null,"context":null}`, 204, ``},
		{"empty object", "Test.Nothing", "application/json", `{}`, 204, ``},
		{"no body", "Test.Nothing", "application/json", ``, 400, `is empty`},
		{"malformed", "Test.Echo", "application/json", `{"params":`, 400, `"line":1,"column":11`},
		{"deep", "Test.Echo", "application/json", `{"input":` + deep + `}`, 400, `deeper than 128`},
		{"twice", "Test.Echo", "application/json", `{"params":{"value":"a","value":"b"}}`, 400, `duplicate name`},
		{"unknown type", "Test.Echo", "text/plain", `{}`, 415, `text/plain`},
		{"missing parameter", "Test.Echo", "application/json", `{}`, 400, `Failed to invoke operation: Test.Echo, `},
		{"literal expression", "Test.Echo", "application/json", `{"params":{"value":"expr:1+1"}}`, 200, `"expr:1+1"`},
		{"unknown operation", "Test.Ecko", "application/json", `{}`, 404, `perhaps Test.Echo`},
		{"reserved variable", "Test.Nothing", "application/json", `{"context":{"ChainParameters":{}}}`, 400, `reserved`},
		{"too large", "Test.Echo", "application/json", `{"params":{"value":"` + strings.Repeat("x", 11<<20) + `"}}`, 413, `JSON body`},
	}
	for _, c := range cases {
		got := s.Do("POST", "/nuxeo/site/automation/"+c.path, c.body, "Content-Type", c.typ)
		if got.StatusCode != c.status || !strings.Contains(got.Text, c.holds) {
			t.Errorf("%s: got %d %.300s", c.name, got.StatusCode, got.Text)
		}
		if got.Text != "" && !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: type %s", c.name, got.Header.Get("Content-Type"))
		}
	}
	if got := s.Do("POST", "/api/v1/automation/Test.Echo", "{}", "Content-Encoding", "gzip"); got.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("gzip: %d", got.StatusCode)
	}
	if got := s.Do("POST", "/api/v1/automation/Test.Echo", `{"params":{"value":"x"}}`, "X-NXVoidOperation", "true"); got.StatusCode != http.StatusNoContent {
		t.Errorf("void: %d %s", got.StatusCode, got.Text)
	}
}

func TestErrorTable(t *testing.T) {
	s := start(t)
	want := map[string]int{
		"internal": 500, "invalid": 400, "denied": 403, "notfound": 404, "exists": 409, "conflict": 409, "limit": 422, "unavailable": 503,
	}
	for kind, status := range want {
		got := s.Do("POST", "/api/v1/automation/Test.Fail", fmt.Sprintf(`{"params":{"kind":%q}}`, kind), "X-Request-Id", "r-1")
		body := got.JSON(t)
		message := "Failed to invoke operation: Test.Fail, Failed to invoke operation Test.Fail with aliases [Test.Broken], subject: reason"
		if kind == "internal" {
			message = "Internal Server Error"
		}
		if got.StatusCode != status || body["status"] != float64(status) || body["message"] != message || body["entity-type"] != "exception" ||
			body["requestId"] != "r-1" || got.Header.Get("X-Request-Id") != "r-1" {
			t.Errorf("%s: %d %s", kind, got.StatusCode, got.Text)
		}
		if (status == http.StatusServiceUnavailable) != (got.Header.Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", kind, got.Header.Get("Retry-After"))
		}
	}
	for code, want := range map[string]string{"disk_full": "507 60", "rate_limited": "429 60", "x": "503 1"} {
		got := s.Do("POST", "/api/v1/automation/Test.Fail", fmt.Sprintf(`{"params":{"kind":"unavailable","code":%q}}`, code))
		if answer := fmt.Sprint(got.StatusCode, " ", got.Header.Get("Retry-After")); answer != want {
			t.Errorf("%s: %s, want %s", code, answer, want)
		}
	}
	got := s.Do("POST", "/api/v1/automation/Test.Panic", `{}`)
	if got.StatusCode != http.StatusInternalServerError || strings.Contains(got.Text, "boom") {
		t.Errorf("panic: %d %s", got.StatusCode, got.Text)
	}
}

func TestSignIn(t *testing.T) {
	s := start(t)
	s.User("ミカエル")
	reader, writer := s.Key("Administrator", "read_only"), s.Key("Administrator", "read_write")
	cases := []struct {
		name    string
		headers []string
		status  int
	}{
		{"nobody", []string{"as", ""}, 401},
		{"password", nil, 200},
		{"UTF-8", []string{"as", "ミカエル"}, 200},
		{"unknown user", []string{"as", "bob"}, 401},
		{"key", []string{"Authorization", "Bearer " + reader}, 200},
		{"key as token", []string{"as", "", "X-Authentication-Token", reader}, 200},
		{"wrong key", []string{"Authorization", "Bearer cat_1_nope"}, 401},
		{"other scheme", []string{"Authorization", "Digest x"}, 401},
	}
	for _, c := range cases {
		got := s.Do("GET", "/api/v1/path/default-domain", "", c.headers...)
		if got.StatusCode != c.status || (c.status == http.StatusUnauthorized) != strings.HasPrefix(got.Header.Get("WWW-Authenticate"), "Basic realm=") {
			t.Errorf("%s: %d %v", c.name, got.StatusCode, got.Header)
		}
	}
	if got := s.Do("GET", "/api/v1/path/default-domain?access_token="+reader, "", "as", ""); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("a key in the address: status %d", got.StatusCode)
	}
	if got := s.Do("GET", "/api/v1/path/default-domain?token="+reader, "", "as", ""); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("key in the address: %d", got.StatusCode)
	}
	body := fmt.Sprintf(document, "a")
	if got := s.Do("POST", "/api/v1/path/default-domain", body, "Authorization", "Bearer "+reader); got.StatusCode != http.StatusForbidden {
		t.Errorf("read-only key writes: %d %s", got.StatusCode, got.Text)
	}
	if got := s.Do("POST", "/api/v1/path/default-domain", body, "Authorization", "Bearer "+writer); got.StatusCode != http.StatusCreated {
		t.Errorf("key writes: %d %s", got.StatusCode, got.Text)
	}
}

func TestForeignPages(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: testOps, Rest: func(c *rest.Config) {
		c.Origins = []string{"https://app.example.org"}
	}})
	cases := []struct {
		name    string
		headers []string
		status  int
	}{
		{"no browser", nil, 204},
		{"same site", []string{"Sec-Fetch-Site", "same-origin"}, 204},
		{"other site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403},
		{"old browser, other site", []string{"Origin", "https://evil.example"}, 403},
		{"listed", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://app.example.org"}, 204},
		{"rebound name", []string{"Host", "evil.example"}, 421},
	}
	for _, c := range cases {
		if got := s.Do("POST", "/api/v1/automation/Test.Nothing", "{}", c.headers...); got.StatusCode != c.status {
			t.Errorf("%s: %d %s", c.name, got.StatusCode, got.Text)
		}
	}
}

func TestIdempotency(t *testing.T) {
	s := start(t)
	body := fmt.Sprintf(document, "once")
	send := func() *resttest.Answer {
		return s.Do("POST", "/api/v1/path/default-domain/workspaces", body, "Idempotency-Key", "k1")
	}
	var wg sync.WaitGroup
	answers := make([]*resttest.Answer, 5)
	for i := range answers {
		wg.Go(func() { answers[i] = send() })
	}
	wg.Wait()
	first := ""
	for _, a := range answers {
		if a.Header.Get("Idempotency-Key") != "k1" {
			t.Errorf("%d: key not echoed", a.StatusCode)
		}
		switch a.StatusCode {
		case http.StatusCreated:
			if first != "" && a.Text != first {
				t.Errorf("answers differ: %s and %s", first, a.Text)
			}
			first = a.Text
		case http.StatusConflict:
		default:
			t.Errorf("got %d %s", a.StatusCode, a.Text)
		}
	}
	if again := send(); again.StatusCode != http.StatusCreated || again.Text != first || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("replay: %d %s, want %s", again.StatusCode, again.Text, first)
	}
	other := s.Do("POST", "/api/v1/path/default-domain/workspaces", fmt.Sprintf(document, "other"), "Idempotency-Key", "k1")
	if other.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("other body: %d %s", other.StatusCode, other.Text)
	}
	children := s.Do("GET", "/api/v1/path/default-domain/workspaces/@children", "").JSON(t)
	if n := len(children["entries"].([]any)); n != 1 {
		t.Errorf("%d documents, want 1", n)
	}
}

func TestDryRun(t *testing.T) {
	s := start(t)
	got := s.Do("POST", "/api/v1/path/default-domain/workspaces?dryRun=true&trace=true", fmt.Sprintf(document, "a"))
	body := got.JSON(t)
	value, _ := body["value"].(map[string]any)
	changes, _ := body["changes"].([]any)
	if got.StatusCode != http.StatusOK || body["entity-type"] != "dryRun" || value["path"] != "/default-domain/workspaces/a" || len(changes) == 0 || body["trace"] == nil {
		t.Errorf("got %d %s", got.StatusCode, got.Text)
	}
	if after := s.Do("GET", "/api/v1/path/default-domain/workspaces/a", ""); after.StatusCode != http.StatusNotFound {
		t.Errorf("the document was made: %d", after.StatusCode)
	}
	traced := s.Do("POST", "/api/v1/automation/Test.Nothing?trace=true", "{}").Header.Get("Catena-Trace")
	if again := s.Do("GET", "/api/v1/automation/traces/"+traced, ""); traced == "" || again.StatusCode != http.StatusOK || !strings.Contains(again.Text, "Test.Nothing") {
		t.Errorf("trace %q: %d %s", traced, again.StatusCode, again.Text)
	}
}

func TestAsync(t *testing.T) {
	s := start(t)
	s.User("bob")
	begin := func(op, body string) string {
		got := s.Do("POST", "/nuxeo/site/automation/"+op+"/@async", body)
		if got.StatusCode != http.StatusAccepted {
			t.Fatalf("start: %d %s", got.StatusCode, got.Text)
		}
		return strings.TrimPrefix(got.Header.Get("Location"), s.URL)
	}
	status := begin("Test.Wait", `{"params":{"millis":200}}`)
	if got := s.Do("GET", status, ""); got.StatusCode != http.StatusOK || got.Text != `"RUNNING"` {
		t.Errorf("running: %d %s", got.StatusCode, got.Text)
	}
	if got := s.Do("GET", status, "", "as", "bob"); got.StatusCode != http.StatusNotFound {
		t.Errorf("another user: %d", got.StatusCode)
	}
	result := over(t, s, status)
	if got := s.Do("GET", result, ""); got.StatusCode != http.StatusOK || got.Text != `{"entity-type":"string","value":"done"}` {
		t.Errorf("result: %d %s", got.StatusCode, got.Text)
	}
	if got := s.Do("GET", result, ""); got.StatusCode != http.StatusOK || got.Text != `{"entity-type":"string","value":"done"}` {
		t.Errorf("second read: %d %s", got.StatusCode, got.Text)
	}
	got := s.Do("GET", over(t, s, begin("Test.Fail", `{"params":{"kind":"notfound"}}`)), "")
	if got.StatusCode != http.StatusNotFound || got.JSON(t)["message"] != "Failed to invoke operation Test.Fail with aliases [Test.Broken], subject: reason" {
		t.Errorf("failure: %d %s", got.StatusCode, got.Text)
	}
	status = begin("Test.Wait", `{"params":{"millis":60000}}`)
	if got := s.Do("DELETE", strings.TrimSuffix(status, "/status"), ""); got.StatusCode != http.StatusNoContent {
		t.Errorf("abort: %d %s", got.StatusCode, got.Text)
	}
	if got := s.Do("GET", status, ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("after abort: %d", got.StatusCode)
	}
}

// over waits until a run has ended and returns where its result is.
func over(t *testing.T, s *resttest.Server, status string, headers ...string) string {
	t.Helper()
	for range 200 {
		got := s.Do("GET", status, "", headers...)
		if got.StatusCode == http.StatusSeeOther {
			return strings.TrimPrefix(got.Header.Get("Location"), s.URL)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("run does not end")
	return ""
}

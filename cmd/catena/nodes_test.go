package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"catena/storage/postgres/pgtest"
)

// ask sends a request to a server as a user and returns status and body.
func (p *process) ask(t *testing.T, user, method, path, body string) (int, string) {
	t.Helper()
	resp, text := p.do(t, user, method, path, body)
	return resp.StatusCode, text
}

// do sends a request to a server as a user, with headers, of which one of "" is left out, and returns the answer and its body.
func (p *process) do(t *testing.T, user, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, p.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	password := adminPassword
	if user != "Administrator" {
		password = "a long " + user
	}
	req.SetBasicAuth(user, password)
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// want is ask for a request that has a status.
func (p *process) want(t *testing.T, status int, user, method, path, body string) string {
	t.Helper()
	got, text := p.ask(t, user, method, path, body)
	if got != status {
		t.Errorf("%s %s: status %d, want %d: %.300s", method, path, got, status, text)
	}
	return text
}

const spaces = "/api/v1/path/default-domain/workspaces"

func inputCall(params, input string) string {
	return fmt.Sprintf(`{"params":%s,"input":%q}`, params, input)
}

// TestNodes has two servers on one database: what one acknowledges the other shows at once, permissions and groups too,
// chains within a second, and one goes on when the other is killed.
func TestNodes(t *testing.T) {
	store, content := pgtest.Database(t), t.TempDir()
	a := startServer(t, t.TempDir(), "--store", store, "--blobs", content)
	code, _, errs := line(t, "serve", "--store", store, "--data", t.TempDir(), "--addr", "127.0.0.1:0")
	if code != 2 || !strings.Contains(errs, "is not the folder that has the content of files of this database") {
		t.Errorf("a node with a folder of its own: %d, %s", code, errs)
	}
	b := startServer(t, t.TempDir(), "--store", store, "--blobs", content)

	for i := range 20 {
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		from.want(t, 201, "Administrator", "POST", spaces, fmt.Sprintf(`{"entity-type":"document","type":"Folder","name":"f%d"}`, i))
		to.want(t, 200, "Administrator", "GET", fmt.Sprintf("%s/f%d", spaces, i), "")
	}
	a.want(t, 204, "Administrator", "POST", "/api/v1/automation/User.CreateOrUpdate", `{"params":{"username":"ann","password":"a long ann"}}`)
	for i := range 6 {
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		to.want(t, 403, "ann", "POST", spaces+"/f1", `{"entity-type":"document","type":"Folder","name":"no"}`)
		from.want(t, 200, "Administrator", "POST", "/api/v1/automation/Document.AddPermission", inputCall(`{"permission":"ReadWrite","user":"ann"}`, "/default-domain/workspaces/f1"))
		to.want(t, 201, "ann", "POST", spaces+"/f1", fmt.Sprintf(`{"entity-type":"document","type":"Folder","name":"in%d"}`, i))
		from.want(t, 200, "Administrator", "POST", "/api/v1/automation/Document.RemovePermission", inputCall(`{"user":"ann"}`, "/default-domain/workspaces/f1"))
	}
	madeAgain(t, a, b)
	remembered(t, a, b)
	givenBack(t, a, b)
	deployed(t, a, b)
	code, out, errs := line(t, "nodes", "--store", store, "--data", t.TempDir()) // it needs no content of files
	for _, p := range []*process{a, b} {
		if !strings.Contains(out, strings.TrimPrefix(p.base, "http://")) || strings.Count(out, " up") != 2 {
			t.Errorf("nodes: %d, %s%s", code, out, errs)
		}
	}
	a.kill()
	b.want(t, 201, "Administrator", "POST", spaces, `{"entity-type":"document","type":"Folder","name":"after"}`)
}

// madeAgain deletes a user on one node, and creates another one with the same name and password, who is signed in on both.
func madeAgain(t *testing.T, a, b *process) {
	t.Helper()
	for range 3 {
		for _, p := range []*process{a, b} {
			p.want(t, 200, "ann", "GET", "/api/v1/me", "")
		}
		a.want(t, 204, "Administrator", "DELETE", "/api/v1/user/ann", "")
		b.want(t, 401, "ann", "GET", "/api/v1/me", "")
		a.want(t, 204, "Administrator", "POST", "/api/v1/automation/User.CreateOrUpdate", `{"params":{"username":"ann","password":"a long ann"}}`)
		a, b = b, a
	}
}

// remembered changes on one node what decides about a request on the other one, which remembers who made the request before and begins
// with the transaction that writes.
func remembered(t *testing.T, a, b *process) {
	t.Helper()
	const ofAnn = `{"params":{"username":"ann","password":%q}}`
	user := func(status int, method, path, body string) {
		t.Helper()
		a.want(t, status, "Administrator", method, path, body)
	}
	password := func(text string) {
		t.Helper()
		user(204, "POST", "/api/v1/automation/User.CreateOrUpdate", fmt.Sprintf(ofAnn, text))
	}
	for range 3 {
		b.writes(t, 403, 403)
		user(201, "POST", inAdministrators, "")
		b.writes(t, 201, 200)
		password("another one of ann") // so it is refused
		b.refused(t)
		password("a long ann")
		b.writes(t, 201, 200)
		password("a long ann") // the same, hashed again
		b.writes(t, 201, 200)
		user(200, "DELETE", inAdministrators, "")
		b.writes(t, 403, 403)
		user(204, "DELETE", "/api/v1/user/ann", "")
		b.refused(t)
		password("a long ann")
		b.writes(t, 403, 403)
		for _, by := range credentials {
			headers, end := by.begin(t, a)
			b.writes(t, 403, 403, headers...)
			user(201, "POST", inAdministrators, "")
			b.writes(t, 201, 200, headers...)
			user(200, "DELETE", inAdministrators, "")
			b.writes(t, 403, 403, headers...)
			user(201, "POST", inAdministrators, "")
			b.writes(t, 201, 200, headers...)
			end()
			b.refused(t, headers...)
			if user(200, "DELETE", inAdministrators, ""); t.Failed() {
				t.Fatalf("by %s", by.what)
			}
			password("a long ann")
		}
		a, b = b, a
	}
}

const (
	inAdministrators = "/api/v1/user/ann/group/administrators"
	againDocument    = `{"entity-type":"document","type":"Folder","name":"again"}`
	createOperation  = "/api/v1/automation/Document.Create"
)

// writes makes requests of ann that write, a document and an operation, which are answered with these statuses.
func (p *process) writes(t *testing.T, document, operation int, headers ...string) {
	t.Helper()
	p.answers(t, document, spaces+"/f1", againDocument, headers)
	p.answers(t, operation, createOperation, inputCall(`{"type":"Folder"}`, "/default-domain/workspaces/f1"), headers)
}

// refused makes requests of ann, who is refused, whatever else is wrong with them.
func (p *process) refused(t *testing.T, headers ...string) {
	t.Helper()
	p.writes(t, 401, 401, headers...)
	p.answers(t, 401, spaces+"/f1", "no JSON", headers)
	p.answers(t, 401, "/api/v1/automation/Unknown.Operation", inputCall(`{}`, "/"), headers)
}

func (p *process) answers(t *testing.T, status int, path, body string, headers []string) {
	t.Helper()
	if resp, text := p.do(t, "ann", "POST", path, body, headers...); resp.StatusCode != status {
		t.Errorf("POST %s: status %d, want %d: %.300s", path, resp.StatusCode, status, text)
	}
}

// credentials are what ann may sign requests in by besides the password: begin makes one on a node, end ends it there.
var credentials = []struct {
	what  string
	begin func(t *testing.T, on *process) (headers []string, end func())
}{
	{"an API key", func(t *testing.T, on *process) ([]string, func()) {
		text := on.want(t, 200, "ann", "POST", "/api/v1/automation/Key.Create", `{"params":{"scope":"read_write"}}`)
		key := submatches(t, `"key":"(cat_(\d+)_[^"]+)"`, text)
		return []string{"Authorization", "Bearer " + key[1]}, func() {
			on.want(t, 204, "ann", "POST", "/api/v1/automation/Key.Revoke", `{"params":{"id":`+key[2]+`}}`)
		}
	}},
	{"the token of a device", func(t *testing.T, on *process) ([]string, func()) {
		token := on.want(t, 201, "ann", "POST", "/api/v1/token?application=Drive&deviceId=1&permission=ReadWrite", "")
		return []string{"Authorization", "", "X-Authentication-Token", token}, func() {
			on.want(t, 204, "ann", "DELETE", "/api/v1/token/"+token, "")
		}
	}},
	{"a session", func(t *testing.T, on *process) ([]string, func()) {
		headers := signInBrowser(t, on)
		_, text := on.do(t, "ann", "POST", "/api/v1/automation/SignIn.List", "{}", headers...)
		id := submatches(t, `"id":"([^"]+)"[^{}]*"current":true`, text)[1]
		return headers, func() {
			on.want(t, 204, "ann", "POST", "/api/v1/automation/SignIn.End", `{"params":{"id":"`+id+`"}}`)
		}
	}},
	{"a session that a new password ends", func(t *testing.T, on *process) ([]string, func()) {
		return signInBrowser(t, on), func() {
			on.want(t, 204, "Administrator", "POST", "/api/v1/automation/User.CreateOrUpdate", `{"params":{"username":"ann","password":"a new one of ann"}}`)
		}
	}},
}

// signInBrowser begins a session of ann and returns the headers of a page's requests.
func signInBrowser(t *testing.T, on *process) []string {
	t.Helper()
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.PostForm(on.base+"/ui/login", url.Values{"user": {"ann"}, "password": {"a long ann"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	cookie, _, _ := strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	return []string{"Authorization", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin"}
}

func submatches(t *testing.T, pattern, in string) []string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(in)
	if m == nil {
		t.Fatalf("no %s in %.300s", pattern, in)
	}
	return m
}

// givenBack has a name taken and given back on one node, and used on the other one, which knows it to be taken.
func givenBack(t *testing.T, a, b *process) {
	t.Helper()
	const document = `{"entity-type":"document","type":"Folder","name":"place"}`
	for range 3 {
		for _, p := range []*process{a, b} {
			if text := p.want(t, 201, "Administrator", "POST", spaces+"/f2", document); p == b && strings.Contains(text, `/f2/place"`) {
				t.Errorf("given twice: %s", text)
			}
		}
		a.want(t, 204, "Administrator", "DELETE", spaces+"/f2/place", "")
		if text := b.want(t, 201, "Administrator", "POST", spaces+"/f2", document); !strings.Contains(text, `/f2/place"`) {
			t.Errorf("given back, and not given again: %s", text)
		}
		b.want(t, 204, "Administrator", "DELETE", spaces+"/f2/place", "")
		a, b = b, a
	}
}

// deployed saves a chain on one node and calls it on the other.
func deployed(t *testing.T, a, b *process) {
	t.Helper()
	a.want(t, 200, "Administrator", "POST", "/api/v1/automation/Chain.Save", `{"params":{"name":"shared.yaml","source":"name: Test.Shared\ninput: document\nsteps:\n  - op: Document.Lock\n"}}`)
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		status, text := b.ask(t, "Administrator", "GET", "/api/v1/automation/Test.Shared", "")
		if status == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("the chain is not on the other node: %d %s", status, text)
			return
		}
	}
}

package main

import (
	"fmt"
	"io"
	"net/http"
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

// do sends a request to a server as a user, with headers, and returns the answer and its body.
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
		req.Header.Set(headers[i], headers[i+1])
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
	const (
		document  = `{"entity-type":"document","type":"Folder","name":"again"}`
		user      = "/api/v1/automation/User.CreateOrUpdate"
		ofAnn     = `{"params":{"username":"ann","password":%q}}`
		operation = "/api/v1/automation/Document.Create"
		inGroup   = "/api/v1/user/ann/group/administrators"
	)
	in := inputCall(`{"type":"Folder"}`, "/default-domain/workspaces/f1")
	for range 3 {
		may := func(allowed bool) {
			t.Helper()
			status, of := 403, 403
			if allowed {
				status, of = 201, 200
			}
			b.want(t, status, "ann", "POST", spaces+"/f1", document)
			b.want(t, of, "ann", "POST", operation, in)
		}
		refused := func() {
			t.Helper()
			b.want(t, 401, "ann", "POST", spaces+"/f1", document)
			b.want(t, 401, "ann", "POST", spaces+"/f1", "no JSON")
			b.want(t, 401, "ann", "POST", operation, in)
			b.want(t, 401, "ann", "POST", "/api/v1/automation/Unknown.Operation", in)
		}
		may(false)
		a.want(t, 201, "Administrator", "POST", inGroup, "")
		may(true)
		a.want(t, 204, "Administrator", "POST", user, fmt.Sprintf(ofAnn, "another one of ann")) // so it is refused
		refused()
		a.want(t, 204, "Administrator", "POST", user, fmt.Sprintf(ofAnn, "a long ann"))
		may(true)
		a.want(t, 204, "Administrator", "POST", user, fmt.Sprintf(ofAnn, "a long ann")) // the same, hashed again
		may(true)
		a.want(t, 200, "Administrator", "DELETE", inGroup, "")
		may(false)
		a.want(t, 204, "Administrator", "DELETE", "/api/v1/user/ann", "")
		refused()
		a.want(t, 204, "Administrator", "POST", user, fmt.Sprintf(ofAnn, "a long ann"))
		may(false)
		a, b = b, a
	}
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

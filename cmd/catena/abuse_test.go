package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// hostile is a request that ought to be refused and what the answer should be.
type hostile struct {
	name              string
	method, path, typ string // POST, the automation of the op, JSON unless told
	op, params        string // in place of path and body
	header            map[string]string
	body              string
	raw               string // the whole request, in place of everything else
	status            int
	code, message     string // … in the message is any text of a line
	pointer           string // of the first of errors
	line, column      int    // of the first of errors
	answer            map[string]string
}

// refusal is what an error answer says.
type refusal struct {
	Status  int
	Message string
	Code    string
	Errors  []struct {
		Pointer, Detail string
		Line, Column    int
	}
}

// abused is a server under attack.
type abused struct {
	base, addr string
	process    *process
	file       string // address of a document that must not change
	count      int64  // of documents
	before     string // the document
}

const abuseFolder = "/default-domain/workspaces/abused"

// TestAbuse sends the built binary what clients should not: each request gets its error,
// leaves nothing behind and does not disturb anybody else.
func TestAbuse(t *testing.T) {
	p := startServer(t, t.TempDir(), "--script-time", "1500ms")
	a := &abused{process: p, base: p.base, addr: strings.TrimPrefix(p.base, "http://")}
	a.prepare(t)
	for _, group := range []struct {
		name  string
		cases []hostile
	}{
		{"address", hostileAddresses()},
		{"body", hostileBodies()},
		{"chain", hostileChains()},
		{"header", hostileHeaders()},
		{"multipart", hostileParts()},
		{"parameter", hostileParams()},
		{"query", hostileQueries()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, h := range group.cases {
				t.Run(h.name, func(t *testing.T) { a.try(t, h) })
			}
		})
	}
	t.Run("key", a.keys)
	t.Run("password", a.passwords)
	t.Run("script", a.scripts)
	p.stop(t)
	if state := p.cmd.ProcessState; state == nil || state.ExitCode() != 0 {
		t.Errorf("the server ended with %v", state)
	}
}

// prepare makes a folder with a file of ten bytes.
func (a *abused) prepare(t *testing.T) {
	t.Helper()
	a.must(t, "Document.Create", `{"input":"/default-domain/workspaces","params":{"type":"Folder","name":"abused"}}`)
	a.must(t, "Document.Create", `{"input":"`+abuseFolder+`","params":{"type":"File","name":"file"}}`)
	body, typ := parts(`{"params":{"document":"`+abuseFolder+`/file"}}`, "0123456789")
	if status, got := administer(t, http.MethodPost, a.base+"/api/v1/automation/Blob.AttachOnDocument", typ, body); status != http.StatusOK {
		t.Fatalf("%d %s", status, got)
	}
	for _, source := range goodChains {
		b, _ := json.Marshal(source)
		a.must(t, "Chain.Save", `{"params":{"source":`+string(b)+`}}`)
	}
	a.file = a.base + "/api/v1/path" + abuseFolder + "/file"
	a.count, a.before = a.tree(t)
}

// must runs an operation as Administrator.
func (a *abused) must(t *testing.T, op, body string) string {
	t.Helper()
	status, got := administer(t, http.MethodPost, a.base+"/api/v1/automation/"+op, "application/json", body)
	if status >= 300 {
		t.Fatalf("%s: %d %s", op, status, got)
	}
	return got
}

// tree returns the number of documents and the one that must not change.
func (a *abused) tree(t *testing.T) (int64, string) {
	t.Helper()
	status, body := get(t, a.base+"/api/v1/query?pageSize=1&query=SELECT+*+FROM+Document")
	var page struct{ ResultsCount int64 }
	if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK || page.ResultsCount < 3 {
		t.Fatalf("counting documents: %d %v %.300s", status, err, body)
	}
	status, file := get(t, a.file)
	if status != http.StatusOK {
		t.Fatalf("the document: %d %s", status, file)
	}
	return page.ResultsCount, file
}

// unharmed checks that the server answers and that nothing has changed.
func (a *abused) unharmed(t *testing.T) {
	t.Helper()
	if count, now := a.tree(t); count != a.count || now != a.before {
		t.Errorf("the tree is another: %d documents, were %d\n%s\nwas\n%s", count, a.count, now, a.before)
		a.count, a.before = count, now
	}
}

// try sends one hostile request and checks the answer and what is left.
func (a *abused) try(t *testing.T, h hostile) {
	t.Helper()
	started := time.Now()
	resp, body := a.send(t, h)
	if took := time.Since(started); took > 15*time.Second {
		t.Errorf("took %s", took)
	}
	a.check(t, h, resp, body)
	a.unharmed(t)
}

// check compares the answer.
func (a *abused) check(t *testing.T, h hostile, resp *http.Response, body string) {
	t.Helper()
	got := refusal{Status: resp.StatusCode}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") && resp.StatusCode >= 400 {
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Errorf("the answer is no JSON: %v: %.300s", err, body)
		}
	}
	if resp.StatusCode != h.status || got.Status != h.status || got.Code != h.code || !sameOutput(h.message, got.Message) {
		t.Errorf("got %d %s %q, want %d %s %q", resp.StatusCode, got.Code, got.Message, h.status, h.code, h.message)
	}
	var first struct {
		pointer      string
		line, column int
	}
	if len(got.Errors) > 0 {
		first.pointer, first.line, first.column = got.Errors[0].Pointer, got.Errors[0].Line, got.Errors[0].Column
	}
	if first.pointer != h.pointer || first.line != h.line || first.column != h.column {
		t.Errorf("got place %+v, want %q %d:%d", first, h.pointer, h.line, h.column)
	}
	for name, want := range h.answer {
		if have := resp.Header.Get(name); !sameOutput(want, have) {
			t.Errorf("header %s: got %q, want %q", name, have, want)
		}
	}
	if resp.StatusCode == http.StatusInternalServerError {
		t.Errorf("a fault of the server: %s\n%s", body, a.process.log)
	}
}

// send makes the request.
func (a *abused) send(t *testing.T, h hostile) (*http.Response, string) {
	t.Helper()
	if h.raw != "" {
		return a.sendRaw(t, h.raw)
	}
	method, path, typ, body := h.method, h.path, h.typ, h.body
	if h.op != "" {
		path = "/api/v1/automation/" + h.op
	}
	if h.params != "" {
		body = `{"input":"` + abuseFolder + `","params":` + h.params + `}`
	}
	if method == "" {
		method = http.MethodPost
	}
	if typ == "" && body != "" {
		typ = "application/json"
	}
	req, err := http.NewRequestWithContext(t.Context(), method, a.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("Administrator", adminPassword)
	if typ != "" {
		req.Header.Set("Content-Type", typ)
	}
	for name, value := range h.header {
		switch {
		case name == "Host":
			req.Host = value
		case value == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp, whole(t, resp)
}

// sendRaw sends bytes as they are; {auth} becomes Administrator's Authorization header.
func (a *abused) sendRaw(t *testing.T, text string) (*http.Response, string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", a.addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	r, _ := http.NewRequest(http.MethodGet, a.base, nil)
	r.SetBasicAuth("Administrator", adminPassword)
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\r\n"), "{auth}", "Authorization: "+r.Header.Get("Authorization"))
	if _, err := io.WriteString(conn, strings.ReplaceAll(text, "{host}", a.addr)); err != nil {
		t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body) // the server may cut it short
	return resp, string(b)
}

// parts makes a multipart body: JSON first, then files.
func parts(first string, files ...string) (body, typ string) {
	const boundary = "frontier"
	var b bytes.Buffer
	fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"params\"\r\nContent-Type: application/json\r\n\r\n%s\r\n", boundary, first)
	for i, f := range files {
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=\"f%d\"; filename=\"f%d.txt\"\r\nContent-Type: text/plain\r\n\r\n%s\r\n", boundary, i, i, f)
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.String(), "multipart/form-data; boundary=" + boundary
}

package rest_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"catena/decks"
	"catena/engine"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/people"
	"catena/storage/upload"
)

// ending is a server on which rights end while something is under way.
type ending struct {
	*resttest.Server
	t       *testing.T
	entered chan struct{} // receives when Test.Late has written
	goOn    chan struct{} // lets it go on
}

type late struct {
	Folder storage.Ref `json:"folder" doc:"Where."`
}

// newEnding makes bob, who may write to one folder by a group, and has a deck of his own.
func newEnding(t *testing.T) *ending {
	t.Helper()
	e := &ending{t: t, entered: make(chan struct{}, 100), goOn: make(chan struct{})}
	waits := engine.Op{Name: "Test.Late", Doc: "Makes a document and waits.", Callers: engine.Anyone, Run: engine.On(func(p late, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
		folder, err := c.Tx.Doc(p.Folder)
		if err == nil {
			_, err = c.Tx.Create(folder, "File", "late", nil)
		}
		if err != nil {
			return engine.Void{}, err
		}
		e.entered <- struct{}{}
		select {
		case <-e.goOn:
		case <-c.Done():
		}
		return engine.Void{}, nil
	})}
	e.Server = resttest.Start(t, resttest.Config{
		Ops: append([]engine.Op{waits}, decks.Ops()...), Repo: decks.Listen,
		Rest: func(c *rest.Config) { c.Limits.Rate = -1 },
	})
	e.update(func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err == nil {
			err = people.SaveGroup(tx, &people.Group{Name: "writers"})
		}
		if err != nil {
			return err
		}
		d, err := tx.Create(root, "Workspace", "open", nil)
		if err == nil {
			_, err = tx.SetACL(d, "local", []storage.ACE{{User: "writers", Permission: "Everything", Granted: true}})
		}
		return err
	})
	e.User("bob", "writers")
	account(t, e.Server, "bob", "pro", "", 0)
	if made := e.Do("POST", "/v1/decks", `{"title":"Own"}`, "as", "bob"); made.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", made.Status, made.Text)
	}
	return e
}

func (e *ending) update(fn func(*storage.Tx) error) {
	e.t.Helper()
	if err := e.Repo.Update(context.Background(), e.Repo.System(), fn); err != nil {
		e.t.Fatal(err)
	}
}

func (e *ending) must(a *resttest.Answer) *resttest.Answer {
	e.t.Helper()
	if a.StatusCode >= http.StatusBadRequest {
		e.t.Fatalf("%s %s: %s %s", a.Request.Method, a.Request.URL, a.Status, a.Text)
	}
	return a
}

// signing are the ways bob signs in: what goes with each request, and how it ends; after nothing it does not.
func (e *ending) signing() map[string]func() (headers []string, ends func()) {
	withKey := func(ends func()) func() ([]string, func()) {
		return func() ([]string, func()) { return bearer(e.Key("bob", "read_write")), ends }
	}
	changed := func(fn func(*storage.Tx) error) func() { return func() { e.update(fn) } }
	return map[string]func() ([]string, func()){
		"device": e.device, "key": e.key, "session": e.session,
		"group":   withKey(changed(func(tx *storage.Tx) error { return people.SaveGroup(tx, &people.Group{Name: "writers"}) })),
		"nothing": withKey(func() {}),
		"password": func() ([]string, func()) {
			return []string{"as", "bob"}, changed(func(tx *storage.Tx) error {
				u, err := people.Lookup(tx, "bob")
				if err == nil {
					err = people.SaveUser(tx, u, "another password")
				}
				return err
			})
		},
		"right": withKey(changed(func(tx *storage.Tx) error {
			d, err := tx.Doc("/open")
			if err == nil {
				_, err = tx.SetACL(d, "local", nil)
			}
			return err
		})),
		"user": withKey(func() { e.must(e.Do("DELETE", "/api/v1/user/bob", "")) }),
	}
}

func (e *ending) key() (headers []string, ends func()) {
	k := e.Key("bob", "read_write")
	id := strings.Split(k, "_")[1]
	return bearer(k), func() { e.must(e.Do("POST", "/api/v1/automation/Key.Revoke", `{"params":{"id":`+id+`}}`)) }
}

func (e *ending) device() (headers []string, ends func()) {
	made := e.must(e.Do("GET", "/nuxeo/authentication/token?applicationName=Drive&deviceId=1&permission=ReadWrite&deviceDescription=x", "", "as", "bob"))
	return []string{"as", "", "X-Authentication-Token", made.Text}, func() { e.must(e.Do("DELETE", "/api/v1/token/"+made.Text, "", "as", "bob")) }
}

// session is a browser's, with the token that its pages know.
func (e *ending) session() (headers []string, ends func()) {
	e.t.Helper()
	token, _, err := credential.OpenSession(e.t.Context(), e.Engine.Repo(), "bob", resttest.Password)
	if err != nil {
		e.t.Fatal(err)
	}
	cookie := "catena_session=" + token
	page := e.Do("GET", "/ui", "", "as", "", "Cookie", cookie)
	_, csrf, _ := strings.Cut(page.Text, `name="csrf" value="`)
	csrf, _, ok := strings.Cut(csrf, `"`)
	if !ok {
		e.t.Fatalf("no page of the session: %s %.600s", page.Status, page.Text)
	}
	return []string{"as", "", "Cookie", cookie, "X-Csrf-Token", csrf}, func() {
		form := url.Values{"csrf": {csrf}}.Encode()
		e.must(e.Do("POST", "/ui/logout", form, "as", "", "Cookie", cookie, "Content-Type", "application/x-www-form-urlencoded"))
	}
}

// body is what a request sends once the server asks for it, which is when it knows the caller.
type body struct {
	before func()
	io.Reader
}

func (b *body) Read(p []byte) (int, error) {
	if b.before != nil {
		b.before()
		b.before = nil
	}
	return b.Reader.Read(p)
}

// slow sends a request that lets before happen between signing in and its body.
func (e *ending) slow(method, path, text string, before func(), headers ...string) *resttest.Answer {
	e.t.Helper()
	asked := false
	req, err := http.NewRequestWithContext(e.t.Context(), method, e.URL+path, &body{func() { asked = true; before() }, strings.NewReader(text)})
	if err != nil {
		e.t.Fatal(err)
	}
	req.ContentLength = int64(len(text))
	for i := 0; i+1 < len(headers); i += 2 {
		switch {
		case headers[i] == "as" && headers[i+1] != "":
			req.SetBasicAuth(headers[i+1], resttest.Password)
		case headers[i] != "as":
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	req.Header.Set("Expect", "100-continue")
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil || !asked {
		e.t.Fatalf("%s %s: %s, body asked for: %t, %v %s", method, path, res.Status, asked, err, got)
	}
	return &resttest.Answer{Response: res, Text: string(got)}
}

// made is what there is in bob's folder.
func (e *ending) made() (out string) {
	e.update(func(tx *storage.Tx) error {
		d, err := tx.Doc("/open")
		if err != nil {
			return err
		}
		page, err := tx.Children(d, storage.PageOptions{})
		if err != nil {
			return err
		}
		for _, c := range page.Docs {
			out += c.Path() + " "
		}
		return nil
	})
	return out
}

// TestRevokedUnderWay ends what a request rests on after the server knows the caller and before the
// request is carried out: whatever it is and whichever way it came, it changes nothing any longer.
func TestRevokedUnderWay(t *testing.T) {
	const json, parts = "application/json", "multipart/form-data; boundary=x"
	const part = "--x\r\nContent-Disposition: form-data; name=a; filename=a.txt\r\nContent-Type: text/plain\r\n\r\nlate\r\n--x--\r\n"
	const create = `{"params":{"type":"File","name":"late"},"input":"/open"}`
	requests := []struct{ name, method, path, typ, body string }{
		{"chunk", "POST", "/api/v1/upload/{batch}/0", "application/octet-stream", "late"},
		{"document", "POST", "/api/v1/path/open", json, `{"entity-type":"document","type":"File","name":"late"}`},
		{"operation", "POST", "/api/v1/automation/Document.Create", json, create},
		{"async", "POST", "/api/v1/automation/Document.Create/@async", json, create},
		{"files", "POST", "/api/v1/automation/FileManager.Import", parts, "--x\r\nContent-Type: application/json\r\n\r\n{\"context\":{\"currentDocument\":\"/open\"}}\r\n" + part},
		{"tool", "POST", "/mcp/automation", json, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_operation","arguments":{"operation":"Document.Create","input":"/open","params":{"type":"File","name":"late"}}}}`},
		{"deck", "PATCH", "/v1/decks/1", json, `{"title":"Late"}`},
	}
	for _, way := range []string{"key", "password", "user", "session", "device", "group", "right", "nothing"} {
		t.Run(way, func(t *testing.T) {
			for _, r := range requests {
				if (way == "device" || way == "session") && r.name == "tool" || way == "device" && r.name == "deck" || (way == "group" || way == "right") && (r.name == "chunk" || r.name == "deck") {
					continue // there one does not sign in that way, or it gives no right
				}
				t.Run(r.name, func(t *testing.T) { // whose store is given back before the next one is opened
					e := newEnding(t)
					headers, ends := e.signing()[way]()
					batch, _ := e.must(e.Do("POST", "/api/v1/upload", "", headers...)).JSON(t)["batchId"].(string)
					path := strings.ReplaceAll(r.path, "{batch}", batch)
					headers = append(headers, "Content-Type", r.typ, "Accept", "application/json, text/event-stream")
					a := e.slow(r.method, path, r.body, ends, headers...)
					refused := a.StatusCode == http.StatusUnauthorized || a.StatusCode == http.StatusForbidden || a.StatusCode == http.StatusNotFound
					switch r.name {
					case "tool":
						refused = refused || strings.Contains(a.Text, `"isError":true`)
					case "async":
						refused = refused || e.refused(a, way)
					}
					done := e.made() + e.uploaded(batch) + e.renamed()
					if ended := way != "nothing"; refused != ended || ended != (done == "") {
						t.Errorf("%s %s, made %q", a.Status, a.Text, done)
					}
				})
			}
		})
	}
}

// refused waits for an accepted run, and reports whether it was refused when it began. Nobody may ask for
// that of a user who is gone.
func (e *ending) refused(a *resttest.Answer, way string) bool {
	e.t.Helper()
	as := []string{"as", "bob"}
	switch {
	case a.StatusCode != http.StatusAccepted:
		return false
	case way == "user":
		return true
	case way == "password":
		as = []string{"as", "", "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("bob:another password"))}
	}
	status := strings.TrimPrefix(a.Header.Get("Location"), e.URL)
	for {
		switch b := e.Do("GET", status, "", as...); {
		case b.StatusCode == http.StatusOK && strings.Contains(b.Text, "RUNNING"):
		case b.StatusCode == http.StatusSeeOther:
			got := e.Do("GET", strings.TrimSuffix(status, "/status"), "", as...)
			return got.StatusCode >= http.StatusBadRequest
		default:
			e.t.Fatalf("%s: %s %s", status, b.Status, b.Text)
		}
	}
}

// uploaded is what has come into a batch of bob's.
func (e *ending) uploaded(batch string) (out string) {
	e.update(func(tx *storage.Tx) error {
		files, err := upload.Files(tx, batch)
		if len(files) > 0 {
			out = "a file "
		}
		return err
	})
	return out
}

// renamed is the title of bob's deck if it is another.
func (e *ending) renamed() string {
	if title := e.Do("GET", "/v1/decks/1", "", "as", "bob"); strings.Contains(title.Text, "Late") {
		return "a deck "
	}
	return ""
}

// TestRevokedInTransaction ends what a call rests on while its transaction is open, and lets it
// commit: it is refused, and nothing of it is there.
func TestRevokedInTransaction(t *testing.T) {
	for _, way := range []string{"key", "password", "user", "session", "device", "group", "right", "nothing"} {
		t.Run(way, func(t *testing.T) {
			e := newEnding(t)
			headers, ends := e.signing()[way]()
			answer := make(chan *resttest.Answer)
			go func() {
				answer <- e.Do("POST", "/api/v1/automation/Test.Late", `{"params":{"folder":"/open"}}`, headers...)
			}()
			<-e.entered
			ends()
			close(e.goOn)
			a := <-answer
			refused := a.StatusCode == http.StatusUnauthorized || a.StatusCode == http.StatusForbidden
			if now := e.made(); refused != (way != "nothing") || refused != (now == "") {
				t.Errorf("%s %s, made %q", a.Status, a.Text, now)
			}
		})
	}
}

// TestRevokedStreams ends what a stream of events rests on: it ends, and nothing more comes.
func TestRevokedStreams(t *testing.T) {
	for _, way := range []string{"key", "password", "user", "session"} {
		t.Run(way, func(t *testing.T) {
			e := newEnding(t)
			headers, ends := e.signing()[way]()
			e.must(e.Do("POST", "/v1/decks/1/exports", `{"format":"pdf"}`, headers...))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL+"/v1/decks/1/exports/1/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i+1 < len(headers); i += 2 {
				if headers[i] != "as" {
					req.Header.Set(headers[i], headers[i+1])
				} else if headers[i+1] != "" {
					req.SetBasicAuth(headers[i+1], resttest.Password)
				}
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			lines := bufio.NewReader(res.Body)
			if line, err := lines.ReadString('\n'); err != nil || line != "id: pending\n" {
				t.Fatalf("%s %q %v", res.Status, line, err)
			}
			for { // to the end of the first event
				if line, err := lines.ReadString('\n'); err != nil || line == "\n" {
					break
				}
			}
			ends()
			rest, err := io.ReadAll(lines)
			if err != nil || len(rest) > 0 {
				t.Errorf("%v %q", err, rest)
			}
		})
	}
}

package rest_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest"
	"catena/rest/resttest"
)

// TestPaths asks for a document by a thousand other spellings of its address, as somebody who
// may read it and as somebody who may not: it is that document or none, and no answer tells
// what the server is made of.
func TestPaths(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: testOps, Rest: func(c *rest.Config) { c.Limits.Rate = -1 }})
	s.User("eve")
	for _, name := range []string{"open", "closed"} {
		s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"Folder","name":"`+name+`"}`)
		s.Do("POST", api+"/path/default-domain/workspaces/"+name, `{"entity-type":"document","type":"Note","name":"note","properties":{"dc:title":"of `+name+`"}}`)
	}
	expect(t, s.Do("POST", api+"/automation/Document.BlockPermissionInheritance", `{"input":"/default-domain/workspaces/closed","params":{}}`), 200, "")
	expect(t, s.Do("POST", api+"/automation/Document.AddPermission", `{"input":"/default-domain/workspaces/open","params":{"username":"eve","permission":"Read"}}`), 200, "")
	for name, as := range map[string]string{"open": "eve", "closed": "Administrator"} {
		if got := s.Do("GET", api+"/path/default-domain/workspaces/"+name+"/note", "", "as", as); !strings.Contains(got.Text, "of "+name) {
			t.Fatalf("%s: %s %s", name, got.Status, got.Text)
		}
	}
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // to be repeated
	pieces := []string{
		"/", "//", "/./", "/../", "..;/", ";/", ";x=y", "%2e%2e/", "%2e%2e%2f", "%2f", "%5c", "\\", "%00", "%0a", "%0d%0a", "%09", "%20", "%25", "%252e%252e%252f", "%c0%ae%c0%ae/", "%u002e", "..%c1%9c", "@", "/@", "@/", "/@acl", "/@children", "/@blob/note:note",
		"?", "#", "&", "+", "..", "...", ".", "~", "*", "%ff", "é", "%e2%80%ae", "/path/", "/id/", "/nuxeo/", "/closed", "/open/../closed", "/closed/note", "%2F..%2Fclosed", ":", "'", "\"", "<x>", "{}", "|", "^", "`", "NOTE",
	}
	found, none := 0, 0
	for i := range 1000 {
		path := "/path/default-domain/workspaces/" + []string{"open", "closed"}[i%2] + "/note"
		for range 1 + r.IntN(2) {
			at := r.IntN(len(path) + 1)
			path = path[:at] + pieces[r.IntN(len(pieces))] + path[at:]
		}
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		u.Opaque = "//" + u.Host + []string{"/api/v1", "/nuxeo/api/v1", "/nuxeo/site/api/v1"}[i%3] + strings.NewReplacer(" ", "%20", "\"", "%22", "<", "%3C", ">", "%3E").Replace(path)
		req := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(t.Context())
		req.SetBasicAuth("eve", resttest.Password)
		got := s.Send(req)
		switch {
		case strings.Contains(got.Text, "of closed"):
			t.Errorf("%s: gives what eve may not see: %s", u.Opaque, got.Text)
		case got.StatusCode >= 500, strings.Contains(got.Text, ".go:"), strings.Contains(got.Text, "goroutine "), strings.Contains(got.Text, "/home/"), strings.Contains(got.Header.Get("Content-Type"), "text/html") && got.StatusCode >= 400:
			t.Errorf("%s: %s %.300s", u.Opaque, got.Status, got.Text)
		case got.StatusCode == http.StatusOK && strings.Contains(got.Text, "of open"):
			found++
		case got.StatusCode >= 400:
			none++
		}
	}
	if t.Logf("%d the document, %d none, %d something else of eve's", found, none, 1000-found-none); found == 0 || none < 500 {
		t.Error("the test does not test much")
	}
}

// TestKeysAreNotSaid puts API keys where clients put them by mistake: none is in a log, in a
// metric or in an answer.
func TestKeysAreNotSaid(t *testing.T) {
	var log bytes.Buffer
	logs := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := resttest.Start(t, resttest.Config{
		Ops: append(decks.Ops(), testOps...), Repo: decks.Listen,
		Rest: func(c *rest.Config) { c.Limits.Rate, c.Log, c.Access = -1, logs, logs },
	})
	s.User("alice")
	key := s.Key("alice", "read_write")
	secret := strings.SplitN(key, "_", 3)[2] // which may have a _ of its own
	auth := bearer(key)
	for i := range 300 {
		var got *resttest.Answer
		switch i % 6 {
		case 0:
			got = s.Do("GET", "/v1/user", "", auth...)
		case 1:
			got = s.Do("GET", "/v1/decks?api_key="+key+"&token="+key, "", "as", "")
		case 2:
			got = s.Do("POST", "/v1/decks", fmt.Sprintf(`{"title":"t","width":"%d","key":%q}`, i, "x"), append(auth, "Idempotency-Key", fmt.Sprint(i))...)
		case 3:
			got = s.Do("POST", api+"/automation/Test.Panic", `{"params":{}}`, auth...)
		case 4:
			got = s.Do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_deck","arguments":{"id":99}}}`, append(auth, "Accept", "application/json, text/event-stream")...)
		default:
			got = s.Do("GET", "/v1/user", "", "as", "", "Authorization", "Basic "+key, "X-Request-Id", "r", "Referer", "https://x/?"+key)
		}
		if strings.Contains(got.Text, secret) || strings.Contains(fmt.Sprint(got.Header), secret) {
			t.Fatalf("an answer has the key: %s", got.Text)
		}
	}
	metrics := s.Do("GET", "/metrics", "").Text
	if strings.Contains(log.String(), secret) || strings.Contains(metrics, secret) || log.Len() == 0 {
		t.Errorf("the key is said; %d bytes of logs", log.Len())
	}
}

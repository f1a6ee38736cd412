package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestServices goes through the addresses of webhooks, jobs and bulk commands.
func TestServices(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	var ids []string
	for _, name := range []string{"a", "b"} {
		a := s.Do("POST", "/api/v1/path/", `{"entity-type":"document","type":"File","name":"`+name+`"}`)
		ids = append(ids, field(t, a.Text, "uid"))
	}
	hook := s.Do("POST", "/api/v1/webhook", `{"url":"https://example.org/x","events":["document.*"]}`)
	id := field(t, hook.Text, "id")
	command := s.Do("POST", "/api/v1/search/bulk/trash?query=SELECT+*+FROM+File", "")
	both := ";id=" + strings.Join(ids, ";id=")
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/webhook", "", 200, `"id":"` + id + `"`},
		{"GET", "/webhook/" + id, "", 200, `"enabled":true`},
		{"PUT", "/webhook/" + id, `{"description":"mine"}`, 200, `"description":"mine"`},
		{"PUT", "/webhook/" + id, `[]`, 400, `must be an object`},
		{"PUT", "/bulk" + both, `{"entity-type":"document","properties":{"dc:title":"both"}}`, 200, `"title":"both"`},
		{"GET", "/bulk" + both, "", 200, `"entity-type":"documents"`},
		{"GET", "/webhook/" + id + "/deliveries?limit=5", "", 200, `[]`},
		{"POST", "/webhook/" + id + "/deliveries/msg_x/redeliver", "", 404, `delivery msg_x`},
		{"DELETE", "/webhook/" + id, "", 204, ""},
		{"GET", "/webhook/" + id, "", 404, ""},
		{"GET", "/bulk/" + field(t, command.Text, "commandId"), "", 200, `"state":"SCHEDULED"`},
		{"DELETE", "/bulk/" + field(t, command.Text, "commandId"), "", 405, ""},
		{"GET", "/bulk/nope", "", 404, ""},
		{"PUT", "/bulk/" + field(t, command.Text, "commandId") + "/abort", "", 200, `"state":"ABORTED"`},
		{"GET", "/job?kind=bulk&limit=1", "", 200, `"state":"waiting"`},
		{"DELETE", "/job/nope", "", 404, ""},
		{"POST", "/job/nope/retry", "", 404, ""},
		{"DELETE", "/bulk;id=nope", "", 404, ""},
		{"DELETE", "/bulk;name=nope", "", 400, ""},
		{"DELETE", "/bulk" + both, "", 200, `"entries":[]`},
	} {
		a := s.Do(c.method, "/api/v1"+c.path, c.body)
		if a.StatusCode != c.status || !strings.Contains(a.Text, c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.StatusCode, a.Text)
		}
	}
	if hook.StatusCode != http.StatusCreated || command.StatusCode != http.StatusAccepted {
		t.Errorf("made: %d %d %s", hook.StatusCode, command.StatusCode, command.Text)
	}
}

// field cuts a text member out of JSON.
func field(t *testing.T, text, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, `"`+name+`":"`)
	v, _, ok2 := strings.Cut(rest, `"`)
	if !ok || !ok2 {
		t.Fatalf("no %s in %s", name, text)
	}
	return v
}

// TestAuditTable reads audit records as a table.
func TestAuditTable(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.Do("POST", "/api/v1/path/", `{"entity-type":"document","type":"File","name":"=f"}`)
	a := s.Do("GET", "/api/v1/path/=f/@audit?eventId=documentCreated", "", "Accept", "text/csv")
	lines := strings.Split(a.Text, "\r\n")
	if a.StatusCode != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv") || len(lines) != 3 || !strings.HasPrefix(lines[0], "id,eventId,") ||
		!strings.Contains(lines[1], ",documentCreated,eventDocumentCategory,") {
		t.Errorf("%d %s %q", a.StatusCode, a.Header.Get("Content-Type"), a.Text)
	}
}

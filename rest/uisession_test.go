package rest_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestUISession follows two conversations of two users as their front ends see them.
func TestUISession(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("ann")
	s.User("ben")
	call := func(as, op, input, conversation, params string) *resttest.Answer {
		t.Helper()
		body := `{"params":` + params + `,"context":{`
		if conversation != "" {
			body += `"conversationId":"` + conversation + `"`
		}
		body += `}`
		if input != "" {
			body += `,"input":"` + input + `"`
		}
		return s.Do("POST", "/nuxeo/api/v1/automation/"+op, body+"}", "as", as)
	}
	want := func(a *resttest.Answer, status int, code string) map[string]any {
		t.Helper()
		got := map[string]any{}
		if a.StatusCode != http.StatusNoContent && strings.Contains(a.Header.Get("Content-Type"), "json") {
			got = a.JSON(t)
		}
		if word, _ := got["code"].(string); a.StatusCode != status || word != code {
			t.Fatalf("%s %s: %d %s, want %d %q", a.Request.Method, a.Request.URL, a.StatusCode, a.Text, status, code)
		}
		return got
	}
	member := func(as, conversation, name string) any {
		t.Helper()
		return want(s.Do("GET", "/api/v1/uisession/"+conversation, "", "as", as), 200, "")[name]
	}
	for _, as := range []string{"ann", "ben"} {
		opened := call(as, "WebUI.InitSeamContext", "", "", `{"conversationId":"c1"}`)
		want(opened, 204, "")
		if got := opened.Header.Get("Catena-Conversation"); got != "c1" {
			t.Errorf("opened session %q", got)
		}
	}
	unnamed := call("ann", "WebUI.InitSeamContext", "", "", `{}`)
	want(unnamed, 204, "")
	other := unnamed.Header.Get("Catena-Conversation")
	if other == "" || other == "c1" {
		t.Fatalf("a session without a name: %q", other)
	}

	root := want(s.Do("GET", "/api/v1/path/", "", "as", "ann"), 200, "")["uid"]
	home := want(call("ann", "User.GetUserWorkspace", "", "", `{}`), 200, "")
	want(call("ann", "WebUI.NavigateTo", home["path"].(string), "c1", `{"view":"edit"}`), 200, "")
	want(call("ann", "WebUI.NavigateTo", "/", other, `{}`), 200, "")
	for _, c := range []struct {
		as, conversation string
		document         any
		outcome          string
	}{{"ann", "c1", home["uid"], "edit"}, {"ann", other, root, "view_documents"}, {"ben", "c1", nil, ""}} {
		if d, o := member(c.as, c.conversation, "currentDocument"), member(c.as, c.conversation, "outcome"); d != c.document || o != c.outcome {
			t.Errorf("%s in %s: %v shown as %v, want %v as %s", c.as, c.conversation, d, o, c.document, c.outcome)
		}
	}
	want(s.Do("GET", "/api/v1/uisession/"+other, "", "as", "ben"), 404, "ui_session")
	want(call("ben", "Seam.GetCurrentDocument", "", other, `{}`), 404, "ui_session")
	want(call("ben", "Seam.GetCurrentDocument", "", "", `{}`), 400, "ui_session")

	// Messages are shown once; a call that fails says nothing, nor does a dry run.
	want(call("ann", "WebUI.AddInfoMessage", "", "c1", `{"message":"hello"}`), 204, "")
	want(call("ann", "WebUI.RunOperationInSeam", "", "c1", `{"id":"WebUI.AddMessage","message":"bye","severity":"no"}`), 400, "invalid")
	want(s.Do("POST", "/nuxeo/api/v1/automation/WebUI.AddInfoMessage?dryRun=true", `{"params":{"message":"dry"},"context":{"conversationId":"c1"}}`, "as", "ann"), 200, "")
	said := []any{map[string]any{"severity": "INFO", "message": "hello"}}
	for _, want := range []any{said, []any{}} {
		took := s.Do("POST", "/api/v1/uisession/c1/take", "", "as", "ann").JSON(t)["messages"]
		if !reflect.DeepEqual(took, want) {
			t.Errorf("took %v, want %v", took, want)
		}
	}

	// The lists of a user are the same in all sessions, and nobody else's.
	want(s.Do("PUT", "/api/v1/uisession/"+other, `{"tab":"history","lists":{"CURRENT_SELECTION":["`+home["uid"].(string)+`"]}}`, "as", "ann"), 200, "")
	selected := want(call("ann", "Seam.GetSelectedDocuments", "", "c1", `{}`), 200, "")["entries"].([]any)
	if none := want(call("ben", "Seam.GetSelectedDocuments", "", "c1", `{}`), 200, "")["entries"].([]any); len(selected) != 1 || len(none) != 0 {
		t.Errorf("%d documents selected, and %d of somebody else", len(selected), len(none))
	}
	want(s.Do("PUT", "/api/v1/uisession/c1", `{"lists":{"CURRENT_SELECTION":["`+home["uid"].(string)+`"]}}`, "as", "ben"), 404, "notfound")

	// A file that is to be downloaded is where the answer leads, for its user.
	led := s.Do("POST", "/nuxeo/api/v1/automation/WebUI.DownloadFile", "--x\r\nContent-Type: application/json\r\n\r\n{\"context\":{\"conversationId\":\"c1\"}}\r\n"+
		"--x\r\nContent-Disposition: form-data; name=f; filename=a.txt\r\nContent-Type: text/plain\r\n\r\ncontent\r\n--x--\r\n", "as", "ann", "Content-Type", "multipart/form-data; boundary=x")
	at, ok := strings.CutPrefix(led.Header.Get("Location"), s.URL)
	if led.StatusCode != http.StatusSeeOther || !ok {
		t.Fatalf("a file to be downloaded: %d, at %q", led.StatusCode, led.Header.Get("Location"))
	}
	if got := s.Do("GET", at, "", "as", "ann"); got.StatusCode != http.StatusOK || got.Text != "content" {
		t.Errorf("downloaded: %d %q", got.StatusCode, got.Text)
	}
	want(s.Do("GET", at, "", "as", "ben"), 404, "notfound")

	// Anyone who may only read sees the state and changes nothing.
	key := "Bearer " + s.Key("ann", "read_only")
	want(s.Do("GET", "/api/v1/uisession/c1", "", "Authorization", key), 200, "")
	want(s.Do("POST", "/api/v1/uisession/c1/take", "", "Authorization", key), 403, "insufficient_scope")

	// What has ended is gone; a user made again has nothing of the one before.
	want(s.Do("DELETE", "/api/v1/uisession/"+other, "", "as", "ann"), 204, "")
	want(s.Do("GET", "/api/v1/uisession/"+other, "", "as", "ann"), 404, "ui_session")
	want(call("Administrator", "User.Delete", "", "", `{"username":"ann"}`), 204, "")
	s.User("ann")
	want(s.Do("GET", "/api/v1/uisession/c1", "", "as", "ann"), 404, "ui_session")
	want(call("ann", "WebUI.InitSeamContext", "", "", `{"conversationId":"c1"}`), 204, "")
	if lists := member("ann", "c1", "lists"); !reflect.DeepEqual(lists, map[string]any{}) {
		t.Errorf("lists of a user made anew: %v", lists)
	}
}

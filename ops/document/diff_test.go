package document_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/version"
)

// differences are those that Document.Diff returns for /ws/a and another document, by xpath.
func differences(t *testing.T, s *opstest.Engine, other string) map[string]map[string]any {
	t.Helper()
	var out struct {
		Left, Right struct{ Path string }
		Differences []map[string]any
	}
	if err := json.Unmarshal([]byte(s.Call("alice", "Document.Diff", "/ws/a", fmt.Sprintf(`{"other": %q}`, other))), &out); err != nil {
		t.Fatal(err)
	}
	if out.Left.Path != "/ws/a" {
		t.Errorf("the left side is %s", out.Left.Path)
	}
	all := map[string]map[string]any{}
	for _, d := range out.Differences {
		xpath := d["xpath"].(string)
		if all[xpath] != nil {
			t.Errorf("%s differs twice", xpath)
		}
		all[xpath] = d
	}
	return all
}

func TestDiff(t *testing.T) {
	s := opstest.Serve(t, document.Ops, version.Ops)
	file := func(text string) string {
		return fmt.Sprintf(`{"name": "a.txt", "mime-type": "text/plain", "data": %q}`, text)
	}
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a", "properties": {"dc:title": "A", "dc:description": "one\ntwo\nthree\n", "dc:subjects": ["art", "sea", "sea"], "dc:source": "same", "file:content": ` + file("x\ny\n") + `}}`, "/ws/a"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "b", "properties": {"dc:title": "B", "dc:description": "one\n2\nthree\n", "dc:subjects": ["sea", "hill"], "dc:source": "same", "file:content": ` + file("x\nz\n") + `}}`, "/ws/b"},
		{"", "Document.Create", "/ws", `{"type": "Note", "name": "n", "properties": {"dc:title": "A", "note:note": "words"}}`, "/ws/n"},
		{"admin", "Document.Create", "/private", `{"type": "File", "name": "p"}`, "/private/p"},
	})
	got := differences(t, s, "/ws/b")
	for xpath, want := range map[string]string{
		"dc:title":       `{"left":"A","right":"B","xpath":"dc:title"}`,
		"dc:description": `{"left":"one\ntwo\nthree\n","lines":"--- left\n+++ right\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n","right":"one\n2\nthree\n","xpath":"dc:description"}`,
		"dc:subjects":    `{"added":["hill"],"left":["art","sea","sea"],"removed":["art","sea"],"right":["sea","hill"],"xpath":"dc:subjects"}`,
	} {
		if raw, _ := json.Marshal(got[xpath]); string(raw) != want {
			t.Errorf("%s: %s, want %s", xpath, raw, want)
		}
	}
	if lines, _ := got["file:content"]["lines"].(string); !strings.Contains(lines, "-y\n+z\n") {
		t.Errorf("the file: %v", got["file:content"])
	}
	for _, xpath := range []string{"dc:source", "dc:creator", "files:files", "ecm:primaryType"} {
		if got[xpath] != nil {
			t.Errorf("%s: %v", xpath, got[xpath])
		}
	}
	// What one of them cannot have counts as not set.
	other := differences(t, s, "/ws/n")
	if d := other["note:note"]; d["left"] != nil || d["right"] != "words" {
		t.Errorf("note: %v", d)
	}
	if d := other["ecm:primaryType"]; d["left"] != "File" || d["right"] != "Note" || other["dc:title"] != nil {
		t.Errorf("%v", other)
	}
	s.Play([]opstest.Row{
		{"alice", "Document.Diff", "/ws/a", `{"other": "/ws/a"}`, `{"entity-type":"documentDiff","differences":[],"left":{…"path":"/ws/a"…},"right":{…"path":"/ws/a"…}}`},
		{"", "Document.Diff", "/ws/a", `{"other": "/ws/b", "schemas": ["file"]}`, `{"entity-type":"documentDiff","differences":[{…"xpath":"file:content"}],…}`},
		{"", "Document.Diff", "/ws/a", `{"other": "/ws/b", "schemas": ["dublincor"]}`, `! invalid schemas: schemas: unknown schema "dublincor", perhaps dublincore`},
		{"", "Document.Diff", "/ws/a", `{"other": "/private/p"}`, "! notfound: /private/p"},
		{"", "Document.Diff", "/ws/a", `{}`, `! invalid missing_parameter other: parameter "other" is missing`},
		{"", "Document.Diff", "", `{"other": "/ws/a"}`, "! invalid input: input: is missing, must be of type document"},
		{"bob", "Document.Diff", "/ws/a", `{"other": "/ws/b", "schemas": ["common"]}`, `{"entity-type":"documentDiff","differences":[],…}`},
	})
}

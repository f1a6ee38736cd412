package audit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/ops/audit"
	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/property"
	"catena/ops/version"
)

// activities are those that a user gets, each as "actor event path count", and the cursor of the next ones.
func activities(t *testing.T, s *opstest.Engine, user, input, params string) (all []string, next string) {
	t.Helper()
	var out struct {
		Kind    string `json:"entity-type"`
		Next    string
		Entries []struct {
			Actor, EventID, DocPath string
			Count                   int
		}
	}
	text := s.Call(user, "Activity.GetStream", input, params)
	if err := json.Unmarshal([]byte(text), &out); err != nil || out.Kind != "activities" {
		t.Fatalf("%s: %v", text, err)
	}
	for _, e := range out.Entries {
		all = append(all, fmt.Sprint(e.Actor, " ", e.EventID, " ", e.DocPath, " ", e.Count))
	}
	return all, out.Next
}

func TestActivity(t *testing.T) {
	s := opstest.Serve(t, audit.Ops, document.Ops, property.Ops, version.Ops)
	set := func(xpath, value string) string { return fmt.Sprintf(`{"xpath": %q, "value": %q}`, xpath, value) }
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "Folder", "name": "f"}`, "/ws/f"},
		{"", "Document.Create", "/ws/f", `{"type": "File", "name": "a"}`, "/ws/f/a"},
		{"", "Document.SetProperty", "/ws/f/a", set("dc:title", "1"), "/ws/f/a"},
		{"", "Document.SetProperty", "/ws/f/a", set("dc:title", "2"), "/ws/f/a"},
		{"", "Document.SetProperty", "/ws/f/a", set("dc:title", "3"), "/ws/f/a"},
		{"", "Document.CheckIn", "/ws/f/a", `{"version": "minor"}`, "/ws/f/a"},
		{"admin", "Document.Create", "/private", `{"type": "File", "name": "p"}`, "/private/p"},
		{"", "Document.SetProperty", "/ws/f/a", set("dc:source", "4"), "/ws/f/a"},
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "gone"}`, "/ws/gone"},
		{"", "Document.Delete", "/ws/gone", `{}`, ""},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "fa"}`, "/ws/fa"},
	})
	own := []string{
		"alice documentCreated /ws/fa 1", "Administrator documentModified /ws/f/a 1", "alice documentCheckedIn /ws/f/a 1", "alice documentModified /ws/f/a 3",
		"alice documentCreated /ws/f/a 1", "alice documentCreated /ws/f 1",
	}
	for _, c := range []struct {
		user, input, params string
		want                []string
	}{
		{"alice", "/ws", `{}`, append(slices.Clone(own), "Administrator documentCreated /ws 1")},
		{"bob", "/ws/f", `{}`, own[1:]}, // by the path and not by its beginning
		{"bob", "/ws/f/a", `{"eventId": ["documentCheckedIn"]}`, own[2:3]},
		{"bob", "/ws", `{"user": "Administrator"}`, []string{own[1], "Administrator documentCreated /ws 1"}},
		{"bob", "/ws", `{"user": "nobody"}`, nil},
		{"bob", "/ws", `{"since": "2999-01-01T00:00:00Z"}`, nil},
		{"admin", "/private", `{"limit": 1}`, []string{"Administrator documentCreated /private/p 1"}},
	} {
		if got, _ := activities(t, s, c.user, c.input, c.params); !slices.Equal(got, c.want) {
			t.Errorf("%s %s %s:\n got %q\nwant %q", c.user, c.input, c.params, got, c.want)
		}
	}
	// Nobody sees what they may not read, in the stream of everything either.
	all, _ := activities(t, s, "bob", "", `{"limit": 100}`)
	if text := strings.Join(all, "\n"); strings.Contains(text, "private") || strings.Contains(text, "gone") || !strings.Contains(text, own[3]) {
		t.Errorf("bob sees %s", text)
	}
	// In parts, it is the same.
	var parts []string
	for next, n := "", 0; n < 20; n++ {
		var part []string
		part, next = activities(t, s, "alice", "/ws", fmt.Sprintf(`{"limit": 2, "after": %q}`, next))
		if parts = append(parts, part...); next == "" {
			break
		}
		if len(part) != 2 {
			t.Errorf("a part has %d", len(part))
		}
		s.Play([]opstest.Row{{"alice", "Document.Create", "/ws", fmt.Sprintf(`{"type": "File", "name": "later%d"}`, n), "…"}}) // is newer than all of them
	}
	if want := append(slices.Clone(own), "Administrator documentCreated /ws 1"); !slices.Equal(parts, want) {
		t.Errorf("in parts:\n got %q\nwant %q", parts, want)
	}
	s.Play([]opstest.Row{
		{"alice", "Activity.GetStream", "", `{"limit": 0}`, "! invalid limit: limit: 0 is not between 1 and 100"},
		{"", "Activity.GetStream", "", `{"limit": 101}`, "! invalid limit: limit: 101 is not between 1 and 100"},
		{"", "Activity.GetStream", "", `{"after": "nonsense"}`, "! invalid after: after: …"},
		{"", "Activity.GetStream", "/private", `{}`, "! notfound: /private"},
		{"", "Services.GetActivityStream", "", `{"limit": 1}`, `{"entity-type":"activities","entries":[{…}]…}`},
	})
}

// TestActivityOfDocument: what happened to one document is found behind any number of records of others.
func TestActivityOfDocument(t *testing.T) {
	s := opstest.Serve(t, audit.Ops, document.Ops, property.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a"}`, "/ws/a"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "b"}`, "/ws/b"},
		{"", "Document.SetProperty", "/ws/a", `{"xpath": "dc:title", "value": "A"}`, "/ws/a"},
	})
	for i := range 5001 { // more than are looked at of the whole log
		s.Call("alice", "Document.SetProperty", "/ws/b", fmt.Sprintf(`{"xpath": "dc:title", "value": "%d"}`, i))
	}
	want := []string{"alice documentModified /ws/a 1", "alice documentCreated /ws/a 1"}
	if got, next := activities(t, s, "bob", "/ws/a", `{}`); !slices.Equal(got, want) || next != "" {
		t.Errorf("got %q, want %q", got, want)
	}
	got, next := activities(t, s, "bob", "/ws/a", `{"limit": 1}`)
	more, _ := activities(t, s, "bob", "/ws/a", fmt.Sprintf(`{"limit": 1, "after": %q}`, next))
	if got = append(got, more...); !slices.Equal(got, want) {
		t.Errorf("in parts: %q, want %q", got, want)
	}
}

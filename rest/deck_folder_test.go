package rest_test

import (
	"fmt"
	"testing"
)

// TestDeckFolders does to the folder that holds a user's decks what may be done to folders:
// lists and their totals stay right.
func TestDeckFolders(t *testing.T) {
	s := startDecks(t, -1)
	key := s.Key("alice", "read_write")
	for i := range 3 {
		s.Do("POST", "/v1/decks", fmt.Sprintf(`{"title":"d%d"}`, i+1), bearer(key)...)
	}
	s.Do("POST", "/v1/decks/3/trash", "", bearer(key)...)
	for _, step := range []struct {
		op, input, params string
		active, trashed   string
	}{
		{"Document.Trash", "/decks/alice", `{}`, "[]0", "[3 2 1]3"},
		{"Document.Untrash", "/decks/alice", `{}`, "[3 2 1]3", "[]0"},
		{"Document.Trash", "/decks/alice", `{}`, "[]0", "[3 2 1]3"},
		{"Document.Untrash", "/decks/alice/d2", `{}`, "[2]1", "[3 1]2"},
		{"Document.Untrash", "/decks/alice", `{}`, "[2]1", "[3 1]2"},
		{"Document.Copy", "/decks/alice", `{"target":"/default-domain/workspaces","name":"copied"}`, "[2]1", "[3 1]2"},
		{"Document.Trash", "/default-domain/workspaces/copied", `{}`, "[2]1", "[3 1]2"},
		{"Document.Delete", "/default-domain/workspaces/copied", `{}`, "[2]1", "[3 1]2"},
		{"Document.Delete", "/decks/alice", `{}`, "[]0", "[]0"},
	} {
		got := s.Do("POST", "/api/v1/automation/"+step.op, `{"input":"`+step.input+`","params":`+step.params+`}`, "as", "Administrator")
		if got.StatusCode >= 300 {
			t.Fatalf("%s %s: %s %s", step.op, step.input, got.Status, got.Text)
		}
		for path, want := range map[string]string{"/v1/decks": step.active, "/v1/decks/trashed": step.trashed} {
			list := s.Do("GET", path, "", bearer(key)...).JSON(t)
			ids := []any{}
			for _, item := range list["data"].([]any) {
				ids = append(ids, item.(map[string]any)["id"])
			}
			if have := fmt.Sprint(ids) + fmt.Sprint(list["meta"].(map[string]any)["total"]); have != want {
				t.Errorf("%s %s: %s: %s, want %s", step.op, step.input, path, have, want)
			}
		}
	}
}

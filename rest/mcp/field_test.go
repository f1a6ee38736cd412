package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"catena/decks"
	"catena/decks/field"
	"catena/rest/resttest"
)

// TestNewField adds a field to the table of a deck's fields, and nothing else: callers can write it, its bounds
// hold, both revisions return it, and it is in the OpenAPI description and in the tools for models.
func TestNewField(t *testing.T) {
	before := field.Fields
	t.Cleanup(func() { field.Fields = before })
	field.Fields = append(slices.Clone(before), field.Field{
		Name: "origin", Type: field.Text, In: field.Both, XPath: "dc:source", EmptyText: true, Write: field.Direct, MaxLength: 5, Doc: "Where the deck is from.",
	})
	s := resttest.Start(t, resttest.Config{Ops: decks.OpsFor(field.Fields), Repo: decks.Listen})
	s.User("alice")
	auth := []string{"Authorization", "Bearer " + s.Key("alice", "read_write")}
	got := s.Do("POST", "/v1/decks", `{"title":"a","origin":"attic"}`, auth...)
	if got.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", got.Status, got.Text)
	}
	for _, revision := range []string{"a", "b"} {
		if got = s.Do("GET", "/v1/decks/1?revision="+revision, "", auth...); !strings.Contains(got.Text, `"origin":"attic"`) {
			t.Errorf("revision %s: %s %s", revision, got.Status, got.Text)
		}
		got = s.Do("GET", "/openapi-"+revision+".json", "")
		var api struct {
			Components struct {
				Schemas map[string]struct {
					Properties map[string]struct{ MaxLength int }
				}
			}
		}
		if err := json.Unmarshal([]byte(got.Text), &api); err != nil {
			t.Fatal(err)
		}
		_, read := api.Components.Schemas["Deck"].Properties["origin"]
		if written := api.Components.Schemas["DeckInput"].Properties["origin"]; !read || written.MaxLength != 5 {
			t.Errorf("OpenAPI of revision %s: read %t, written %+v", revision, read, written)
		}
	}
	for body, code := range map[string]string{`{"origin":"cellar"}`: "too_long", `{"origin":7}`: "invalid_type"} {
		if got = s.Do("PATCH", "/v1/decks/1", body, auth...); !strings.Contains(got.Text, `"code":"`+code+`"`) {
			t.Errorf("%s: %s %s", body, got.Status, got.Text)
		}
	}
	c := connect(t, s, "/mcp", s.Key("alice", "read_write"), "")
	if out, text, failed := use(t, c, "update_deck", `{"id":1,"origin":"shelf"}`); failed || out["origin"] != "shelf" {
		t.Errorf("update_deck: %s", text)
	}
	list, err := c.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name != "create_deck" && tool.Name != "update_deck" {
			continue
		}
		in, _ := json.Marshal(tool.InputSchema)
		out, _ := json.Marshal(tool.OutputSchema)
		if !strings.Contains(string(in), `"origin"`) || !strings.Contains(string(out), `"origin"`) {
			t.Errorf("tool %s: input %s, output %s", tool.Name, in, out)
		}
	}
}

package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"catena/storage"
	"catena/storage/people"
)

// TestLinkTools goes through the tools that the specification's five leave out.
func TestLinkTools(t *testing.T) {
	s := start(t, -1)
	ctx := context.Background()
	if err := s.Repo.Update(ctx, s.Repo.System(), func(tx *storage.Tx) error {
		u, err := people.Lookup(tx, "alice")
		if err != nil {
			return err
		}
		u.AccountType = "pro"
		return people.SaveUser(tx, u, "")
	}); err != nil {
		t.Fatal(err)
	}
	c := connect(t, s, "/mcp", s.Key("alice", "read_write"), "2026-07-28")
	list, err := c.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if a := tool.Annotations; a == nil || a.OpenWorldHint == nil || a.DestructiveHint == nil || a.ReadOnlyHint && (*a.DestructiveHint || !a.IdempotentHint) {
			t.Errorf("%s: hints %+v", tool.Name, a)
		}
	}
	for _, test := range []struct{ tool, args, want string }{
		{"create_deck", `{"title":"T","data":"<section>a</section>"}`, ""},
		{"get_user", `{}`, ""},
		{"create_share_link", `{"deck_id":1,"name":"L","password":"p"}`, ""},
		{"list_share_links", `{"deck_id":1}`, ""},
		{"revoke_share_link", `{"deck_id":1,"id":1}`, "map[deck_id:1 id:1 revoked:true]"},
		{"trash_deck", `{"id":1}`, "map[id:1 trashed:true]"},
		{"list_trashed_decks", `{}`, ""},
		{"recover_deck", `{"id":1}`, "map[id:1 trashed:false]"},
	} {
		out, text, failed := use(t, c, test.tool, test.args)
		if failed || test.want != "" && fmt.Sprint(out) != test.want {
			t.Errorf("%s: %v %s", test.tool, out, text)
		}
		conforms(t, list.Tools, test.tool, out)
	}
	if _, text, failed := use(t, c, "list_team_decks", `{}`); !failed || !strings.HasPrefix(text, "team_role_required: ") {
		t.Errorf("team decks: %s", text)
	}
	if _, text, failed := use(t, c, "create_share_link", `{"deck_id":1,"expires_at":"tomorrow"}`); !failed || !strings.HasPrefix(text, "invalid_value: expires_at") {
		t.Errorf("link: %s", text)
	}
}

func TestTexts(t *testing.T) {
	s := start(t, -1)
	s.User("bob")
	ctx := context.Background()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		c := connect(t, s, "/mcp", s.Key("alice", "read_write"), version)
		made, _, _ := use(t, c, "create_deck", `{"data":"<section>a</section>"}`)
		uri := fmt.Sprintf("deck://%v", made["id"])
		if res, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}); err != nil || res.Contents[0].Text != "<section>a</section>" || res.Contents[0].MIMEType != "text/html" {
			t.Errorf("%s: %v %v", version, res, err)
		}
		other := connect(t, s, "/mcp", s.Key("bob", "read_write"), version)
		for _, uri := range []string{uri, "deck://x", "deck://999"} {
			if _, err := other.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s: %s is somebody else's, and read", version, uri)
			}
		}
		if res, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: "deck://guide"}); err != nil || !strings.Contains(res.Contents[0].Text, "<section>") {
			t.Errorf("%s: guide: %v", version, err)
		}
		prompts, err := c.ListPrompts(ctx, nil)
		if err != nil || len(prompts.Prompts) != 2 {
			t.Fatalf("%s: prompts: %v", version, err)
		}
		i := slices.IndexFunc(prompts.Prompts, func(p *mcp.Prompt) bool { return p.Name == "outline_to_deck" })
		if i < 0 || !prompts.Prompts[i].Arguments[0].Required {
			t.Errorf("%s: prompts: %v", version, prompts)
		}
		res, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: "outline_to_deck", Arguments: map[string]string{"outline": "one, two"}})
		if err != nil || !strings.HasSuffix(res.Messages[0].Content.(*mcp.TextContent).Text, "one, two") {
			t.Errorf("%s: prompt: %v %v", version, res, err)
		}
		if _, err := c.GetPrompt(ctx, &mcp.GetPromptParams{Name: "review_deck", Arguments: map[string]string{"id": "1"}}); err != nil {
			t.Errorf("%s: prompt: %v", version, err)
		}
	}
}

package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestProgress waits for an export that nobody makes, and hears of it meanwhile.
func TestProgress(t *testing.T) {
	s := start(t, -1)
	key := s.Key("alice", "read_write")
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		var mu sync.Mutex
		var heard []*mcp.ProgressNotificationParams
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, r.Params)
			},
		})
		c, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: signed{key}}, DisableStandaloneSSE: true, MaxRetries: -1,
		}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		made, _, _ := use(t, c, "create_deck", `{"data":"<section>a</section>"}`)
		p := &mcp.CallToolParams{Name: "create_export", Arguments: json.RawMessage(fmt.Sprintf(`{"deck_id":%v,"format":"pdf","wait_seconds":1}`, made["id"]))}
		p.SetProgressToken("tok")
		res, err := c.CallTool(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := res.StructuredContent.(map[string]any)
		hint := res.Content[len(res.Content)-1].(*mcp.TextContent).Text
		if out["status"] != "pending" || !strings.Contains(hint, fmt.Sprintf("get_export with deck_id %v, id %v", made["id"], out["id"])) {
			t.Errorf("%s: %v %q", version, out, hint)
		}
		_ = c.Close()
		mu.Lock()
		if len(heard) < 2 || !slices.IsSortedFunc(heard, func(a, b *mcp.ProgressNotificationParams) int {
			if a.Progress < b.Progress {
				return -1
			}
			return 1
		}) {
			t.Errorf("%s: heard %v", version, heard)
		}
		for _, h := range heard {
			if h.ProgressToken != "tok" || h.Message != fmt.Sprintf("export %v: waiting for its turn", out["id"]) {
				t.Errorf("%s: heard %+v", version, h)
			}
		}
		mu.Unlock()
	}
	c := connect(t, s, "/mcp", key, "")
	for _, args := range []string{`{"deck_id":1,"id":1,"wait_seconds":51}`, `{"deck_id":1,"id":1,"wait_seconds":-1}`, `{"deck_id":1,"id":1,"wait_seconds":"x"}`} {
		if _, text, failed := use(t, c, "get_export", args); !failed || !strings.HasPrefix(text, "out_of_range: wait_seconds: ") {
			t.Errorf("%s: %s", args, text)
		}
	}
	if _, text, failed := use(t, c, "get_deck", `{"id":1,"wait_seconds":1}`); !failed || !strings.HasPrefix(text, "unknown_field: ") {
		t.Errorf("a tool that does not wait: %s", text)
	}
}

func TestCompletion(t *testing.T) {
	s := start(t, -1)
	s.User("bob")
	c, other := connect(t, s, "/mcp", s.Key("alice", "read_write"), "2026-07-28"), connect(t, s, "/mcp", s.Key("bob", "read_only"), "2025-11-25")
	for i := range 12 {
		use(t, c, "create_deck", fmt.Sprintf(`{"title":"Talk %d of Mine"}`, i+1))
	}
	prompt := &mcp.CompleteReference{Type: "ref/prompt", Name: "review_deck"}
	deck := &mcp.CompleteReference{Type: "ref/resource", URI: "deck://{id}"}
	outline := &mcp.CompleteReference{Type: "ref/prompt", Name: "outline_to_deck"}
	for _, test := range []struct {
		c              *mcp.ClientSession
		ref            *mcp.CompleteReference
		name, value, w string
	}{
		{c, prompt, "id", "1", "[12 11 10 1]"},
		{c, deck, "id", "K 3 OF", "[3]"},
		{c, deck, "id", "none", "[]"},
		{other, deck, "id", "", "[]"},
		{c, outline, "audience", "a", "[]"},
	} {
		res, err := test.c.Complete(t.Context(), &mcp.CompleteParams{Ref: test.ref, Argument: mcp.CompleteParamsArgument{Name: test.name, Value: test.value}})
		if err != nil || fmt.Sprint(res.Completion.Values) != test.w || res.Completion.HasMore {
			t.Errorf("%s%s %q: %v %v, want %s", test.ref.Name, test.ref.URI, test.value, res, err, test.w)
		}
	}
	for _, ref := range []*mcp.CompleteReference{{Type: "ref/prompt", Name: "none"}, {Type: "ref/resource", URI: "deck://x"}, prompt} {
		_, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: "nope"}})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s%s: %v", ref.Name, ref.URI, err)
		}
	}
}

// TestCodes checks the code of errors that are no tool's, and the status that goes with it.
func TestCodes(t *testing.T) {
	s := start(t, -1)
	auth := []string{"Authorization", "Bearer " + s.Key("alice", "read_write")}
	const about = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, test := range []struct {
		method, params, name   string
		legacy, modern, status int
	}{
		{"no/such", "", "", -32601, -32601, 404},
		{"logging/setLevel", `"level":"info"`, "", 0, -32601, 404},
		{"resources/subscribe", `"uri":"deck://1"`, "", -32601, -32601, 404},
		{"tools/call", `"name":"no_tool","arguments":{}`, "no_tool", -32602, -32602, 400},
		{"prompts/get", `"name":"no_prompt"`, "no_prompt", -32602, -32602, 400},
		{"prompts/get", `"name":"outline_to_deck"`, "outline_to_deck", -32602, -32602, 400},
		{"prompts/get", `"name":"review_deck","arguments":{"id":"x"}`, "review_deck", -32602, -32602, 400},
		{"resources/read", `"uri":"deck://77"`, "deck://77", -32002, -32602, 400},
		{"tools/list", `"cursor":"broken"`, "", -32602, -32602, 400},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"review_deck"}`, "", -32602, -32602, 400},
	} {
		type reply struct{ Error struct{ Code int } }
		var old, now reply
		body := `{"jsonrpc":"2.0","id":1,"method":"` + test.method + `","params":{`
		comma := ""
		if test.params != "" {
			comma = ","
		}
		legacy := raw(s, "/mcp", body+test.params+"}}", auth...)
		headers := append(slices.Clip(auth), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", test.method)
		if test.name != "" {
			headers = append(headers, "Mcp-Name", test.name)
		}
		modern := raw(s, "/mcp", body+test.params+comma+about+"}}", headers...)
		if err := errors.Join(json.Unmarshal([]byte(legacy.Text), &old), json.Unmarshal([]byte(modern.Text), &now)); err != nil {
			t.Errorf("%s: %v: %s %s", test.method, err, legacy.Text, modern.Text)
		}
		if old.Error.Code != test.legacy || now.Error.Code != test.modern || modern.StatusCode != test.status || legacy.StatusCode != http.StatusOK {
			t.Errorf("%s %s: %s %s, %s %s", test.method, test.params, legacy.Status, legacy.Text, modern.Status, modern.Text)
		}
	}
}

// TestRefused checks messages that are none.
func TestRefused(t *testing.T) {
	s := start(t, -1)
	auth := []string{"Authorization", "Bearer " + s.Key("alice", "read_write")}
	for _, test := range []struct {
		body         string
		status, code int
		id           string
	}{
		{`{"jsonrpc":"2.0",`, 400, -32700, "null"},
		{`"text"`, 400, -32600, "null"},
		{`[]`, 400, -32600, "null"},
		{`{"jsonrpc":"1.0","id":1,"method":"tools/list"}`, 400, -32600, "1"},
		{`{"jsonrpc":"2.0","id":"a","method":"tools/call"}`, 400, -32602, `"a"`},
		{`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":7}}`, 200, -32602, `"a"`},
		{`{"jsonrpc":"2.0","id":3,"method":"no/such"}`, 200, -32601, "3"},
		{`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, 400, -32600, "null"},
	} {
		got := raw(s, "/mcp", test.body, auth...)
		var reply struct {
			ID    json.RawMessage
			Error struct{ Code int }
		}
		if err := json.Unmarshal([]byte(got.Text), &reply); err != nil || got.StatusCode != test.status || reply.Error.Code != test.code || string(reply.ID) != test.id {
			t.Errorf("%s: %s %s", test.body, got.Status, got.Text)
		}
	}
}

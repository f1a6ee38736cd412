package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"catena/decks"
	"catena/engine"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage/storagetest"
)

// start runs a server with the deck operations, one that panics, and the user alice.
func start(t testing.TB, rate int) *resttest.Server {
	t.Helper()
	boom := engine.Op{
		Name: "Test.Panic", Doc: "Panics.", Effect: engine.Pure,
		Callers: engine.Anyone,
		Run:     engine.On(func(struct{}, *engine.Ctx, engine.Void) (string, error) { panic("boom") }),
	}
	s := resttest.Start(t, resttest.Config{
		Siblings: []string{"beside"},
		Repo:     decks.Listen, Ops: append(slices.Clip(decks.Ops()), boom),
		Rest: func(c *rest.Config) { c.Limits.Rate = rate },
	})
	s.User("alice")
	return s
}

// signed adds a key to requests.
type signed struct{ key string }

func (s signed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.key)
	return http.DefaultTransport.RoundTrip(r)
}

// connect opens a session of the official client in one era of the protocol.
func connect(t testing.TB, s *resttest.Server, path, key, version string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{
		Endpoint: s.URL + path, HTTPClient: &http.Client{Transport: signed{key}}, DisableStandaloneSSE: true, MaxRetries: -1,
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// use calls a tool and returns its structured content and its text.
func use(t testing.TB, s *mcp.ClientSession, tool, args string) (out map[string]any, text string, failed bool) {
	t.Helper()
	res, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	out, _ = res.StructuredContent.(map[string]any)
	for _, c := range res.Content {
		text += c.(*mcp.TextContent).Text + "\n"
	}
	return out, strings.TrimSpace(text), res.IsError
}

// conforms checks what a tool returned against its output schema.
func conforms(t *testing.T, tools []*mcp.Tool, name string, out any) {
	t.Helper()
	i := slices.IndexFunc(tools, func(t *mcp.Tool) bool { return t.Name == name })
	c := jsonschema.NewCompiler()
	if err := c.AddResource("out.json", tools[i].OutputSchema); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("out.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(out); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func TestDeckTools(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			s := start(t, -1)
			c := connect(t, s, "/mcp", s.Key("alice", "read_write"), version)
			list, err := c.ListTools(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if got, want := strings.Join(names, " "), "add_deck_file create_deck create_export create_share_link get_deck get_export get_slide get_team_deck get_user insert_slide list_deck_files list_decks list_share_links list_slides list_team_decks list_trashed_decks move_slide recover_deck remove_slide revoke_share_link trash_deck update_deck update_slide"; got != want {
				t.Errorf("tools: got %s, want %s", got, want)
			}
			if version == "2026-07-28" && list.CacheScope != "private" {
				t.Errorf("cache scope %q", list.CacheScope)
			}
			made, text, failed := use(t, c, "create_deck", `{"title":"T","data":"<section>a<script>b</script></section>","width":800}`)
			if failed || made["id"] != 1.0 || made["data"] != "<section>a</section>" || made["width"] != 800.0 || !strings.Contains(text, "<script> at line 1, column 11") {
				t.Errorf("created: %v %s", made, text)
			}
			conforms(t, list.Tools, "create_deck", made)
			got, _, _ := use(t, c, "get_deck", `{"id":1}`)
			if fmt.Sprint(got) != fmt.Sprint(made) {
				t.Errorf("got %v, made %v", got, made)
			}
			changed, _, _ := use(t, c, "update_deck", `{"id":1,"visibility":"all"}`)
			if changed["visibility"] != "all" || changed["title"] != "T" {
				t.Errorf("changed: %v", changed)
			}
			conforms(t, list.Tools, "update_deck", changed)
			page, _, _ := use(t, c, "list_decks", `{"per_page":1}`)
			if fmt.Sprint(page["meta"]) != "map[page:1 per_page:1 total:1]" {
				t.Errorf("page: %v", page)
			}
			conforms(t, list.Tools, "list_decks", page)
			if gone, _, _ := use(t, c, "trash_deck", `{"id":1}`); fmt.Sprint(gone) != "map[id:1 trashed:true]" {
				t.Errorf("trashed: %v", gone)
			}
		})
	}
}

func TestDeckToolErrors(t *testing.T) {
	s := start(t, -1)
	s.User("bob")
	write, read := s.Key("alice", "read_write"), s.Key("alice", "read_only")
	w, r := connect(t, s, "/mcp", write, ""), connect(t, s, "/mcp", read, "2025-11-25")
	b := connect(t, s, "/mcp", s.Key("bob", "read_write"), "")
	use(t, w, "create_deck", `{}`)
	tests := []struct {
		c                *mcp.ClientSession
		tool, args, want string
	}{
		{r, "create_deck", `{}`, "insufficient_scope: operation Deck.Create writes, but the key is read-only (ask for a read_write key)"},
		{r, "update_deck", `{"id":1}`, "insufficient_scope: operation Deck.Update writes, but the key is read-only (ask for a read_write key)"},
		{r, "trash_deck", `{"id":1}`, "insufficient_scope: operation Deck.Trash writes, but the key is read-only (ask for a read_write key)"},
		{b, "get_deck", `{"id":1}`, "notfound: deck 1: does not exist"},
		{w, "get_deck", `{}`, `missing_parameter: parameter "id" is missing`},
		{w, "get_deck", `{"id":1,"revision":"A"}`, `unknown_field: "revision": get_deck does not have this argument, only id`},
		{w, "create_deck", `{"title":"","width":0}`, "too_short: title: is empty\ntoo_small: width: 0 is less than 1"},
		{w, "create_deck", `{"data":"<p>"}`, "invalid_html: HTML: only <section> elements may stand at the top level, not <p> (line 1, column 1)"},
		{w, "create_deck", `{"visibility":"team"}`, "plan_required: visibility team: requires a team account (use another visibility, or ask the owner to change the plan)"},
		{w, "list_decks", `{"per_page":101}`, "out_of_range: per_page: must be between 1 and 100, not 101"},
	}
	for _, test := range tests {
		if _, got, failed := use(t, test.c, test.tool, test.args); !failed || got != test.want {
			t.Errorf("%s %s: got %q, want %q", test.tool, test.args, got, test.want)
		}
	}
	if _, err := w.CallTool(context.Background(), &mcp.CallToolParams{Name: "no_tool"}); err == nil {
		t.Error("unknown tool: no error")
	}
}

// raw sends one JSON-RPC message as it is.
func raw(s *resttest.Server, path, body string, headers ...string) *resttest.Answer {
	return s.Do("POST", path, body, append([]string{"Accept", "application/json, text/event-stream"}, headers...)...)
}

func TestWire(t *testing.T) {
	s := start(t, -1)
	key := s.Key("alice", "read_write")
	auth := []string{"Authorization", "Bearer " + key}
	legacy := raw(s, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_decks","arguments":{}}}`, auth...)
	if legacy.StatusCode != http.StatusOK || !strings.Contains(legacy.Text, `"structuredContent":{"data":[],"meta":{"page":1,"per_page":20,"total":0}}`) {
		t.Errorf("legacy: %s %s", legacy.Status, legacy.Text)
	}
	modern := raw(s, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_decks","arguments":{},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		append(auth, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "list_decks")...)
	if modern.StatusCode != http.StatusOK || !strings.Contains(modern.Text, `"total":0`) || !strings.Contains(modern.Text, `"resultType"`) {
		t.Errorf("modern: %s %s", modern.Status, modern.Text)
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	tests := []struct {
		name    string
		got     *resttest.Answer
		status  int
		partial string
	}{
		{"no key", raw(s, "/mcp", ping, "as", ""), 401, "not_signed_in"},
		{"bad key", raw(s, "/mcp", ping, "Authorization", "Bearer cat_9_x"), 401, "not_signed_in"},
		{"other site", raw(s, "/mcp", ping, append(auth, "Origin", "https://evil.example")...), 403, "cross_origin"},
		{"other host", raw(s, "/mcp", ping, append(auth, "Host", "evil.example")...), 421, "host_not_allowed"},
		{"GET", s.Do("GET", "/mcp", "", auth...), 405, ""},
		{"OPTIONS", s.Do("OPTIONS", "/mcp", "", "as", ""), 204, ""},
		{"DELETE", s.Do("DELETE", "/mcp", "", auth...), 405, ""},
		{"type", raw(s, "/mcp", ping, append(auth, "Content-Type", "text/plain")...), 415, ""},
		{"size", raw(s, "/mcp", `{"a":"`+strings.Repeat("x", 11<<20)+`"}`, auth...), 413, ""},
		{"context path", raw(s, "/nuxeo/mcp", ping, auth...), 200, "list_decks"},
		{"notification", raw(s, "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, auth...), 202, ""},
	}
	for _, test := range tests {
		if test.got.StatusCode != test.status || !strings.Contains(test.got.Text, test.partial) {
			t.Errorf("%s: got %s %.200s, want %d", test.name, test.got.Status, test.got.Text, test.status)
		}
	}
	if got := tests[1].got.Header.Get("WWW-Authenticate"); got != `Bearer realm="decks", error="invalid_token"` {
		t.Errorf("challenge %q", got)
	}
}

// canonical writes JSON so that equal values are equal text.
func canonical(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// TestShort checks that calls answered without the SDK get the SDK's very answer.
func TestShort(t *testing.T) {
	s := start(t, -1)
	auth := []string{"Authorization", "Bearer " + s.Key("alice", "read_write")}
	raw(s, "/mcp", fmt.Sprintf(calls, "create_deck", `{"title":"é <b> \u2028","data":"<section>\"&amp;\"</section>"}`), auth...)
	const meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}},
		"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}`
	for _, test := range []struct{ path, id, tool, args string }{
		{"/mcp", `1`, "list_decks", `{}`},
		{"/mcp", `"é<\u2028"`, "get_deck", `{"id":1}`},
		{"/mcp", `-7`, "get_deck", `{"id":2}`},
		{"/mcp", `1`, "get_deck", `[]`},
		{"/mcp", `1`, "no_tool", `{}`},
		{"/mcp/automation", `1`, "run_operation", `{"operation":"Deck.Get","params":{"id":1}}`},
		{"/mcp/automation", `1`, "run_operation", `{"operation":"Test.Panic"}`},
		{"/mcp/automation", `1`, "search_operations", `{"query":"deck list","limit":1}`},
	} {
		for _, modern := range []bool{false, true} {
			message := `{"jsonrpc":"2.0","id":` + test.id + `,"method":"tools/call","params":{"name":"` + test.tool + `","arguments":` + test.args
			headers := auth
			if modern {
				message += meta
				headers = append(slices.Clip(auth), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", test.tool)
			}
			short, whole := raw(s, test.path, message+`}}`, headers...), raw(s, test.path, message+`,"unusual":0}}`, headers...)
			if short.StatusCode != whole.StatusCode || canonical(short.Text) != canonical(whole.Text) || short.Header.Get("Cache-Control") != whole.Header.Get("Cache-Control") {
				t.Errorf("%s %s %t:\nshort %s %s\nwhole %s %s", test.tool, test.args, modern, short.Status, short.Text, whole.Status, whole.Text)
			}
		}
	}
	mismatch := raw(s, "/mcp", fmt.Sprintf(calls, "list_decks", `{}`+meta), append(slices.Clip(auth), "MCP-Protocol-Version", "2026-07-28",
		"Mcp-Method", "tools/call", "Mcp-Name", "get_deck")...)
	if mismatch.StatusCode != http.StatusBadRequest || !strings.Contains(mismatch.Text, "-32020") {
		t.Errorf("headers that do not match: %s %s", mismatch.Status, mismatch.Text)
	}
}

func TestRate(t *testing.T) {
	s := start(t, 2)
	auth := []string{"Authorization", "Bearer " + s.Key("alice", "read_only")}
	for range storagetest.Nodes() { // each has let through as many when it hears of the other
		s.Do("GET", "/v1/user", "", auth...)
	}
	for range storagetest.Nodes() {
		raw(s, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, auth...)
	}
	if got := raw(s, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, auth...); got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") == "" {
		t.Errorf("got %s", got.Status)
	}
}

func TestAutomation(t *testing.T) {
	s := start(t, -1)
	c := connect(t, s, "/mcp/automation", s.Key("Administrator", "read_write"), "")
	found, _, _ := use(t, c, "search_operations", `{"query":"document create","limit":3}`)
	first, _ := found["operations"].([]any)
	if len(first) == 0 || first[0].(map[string]any)["name"] != "Document.Create" {
		t.Errorf("found: %v", found)
	}
	about, _, _ := use(t, c, "describe_operation", `{"name":"Document.Create"}`)
	if about["effect"] != "writes" || !strings.Contains(fmt.Sprint(about["params"]), "properties:map[") {
		t.Errorf("about: %v", about)
	}
	made, _, failed := use(t, c, "run_operation", `{"operation":"Document.Create","input":"/default-domain/workspaces","params":{"type":"Workspace","name":"w"}}`)
	if d, _ := made["result"].(map[string]any); failed || d["path"] != "/default-domain/workspaces/w" || d["entity-type"] != "document" || d["properties"] != nil || d["facets"] != nil {
		t.Errorf("made: %v", made)
	}
	asked, _, _ := use(t, c, "run_operation", `{"operation":"Repository.GetDocument","params":{"value":"/default-domain/workspaces"},"properties":["dc:title","file:content"]}`)
	if d, _ := asked["result"].(map[string]any); fmt.Sprint(d["properties"]) != "map[dc:title:Workspaces]" {
		t.Errorf("properties asked for: %v", d["properties"])
	}
	beside, _, failed := use(t, c, "run_operation", `{"operation":"Document.Create","input":"/","params":{"type":"Folder","name":"w"},"repository":"beside","properties":["*"]}`)
	if d, _ := beside["result"].(map[string]any); failed || d["repository"] != "beside" || d["path"] != "/w" {
		t.Errorf("beside: %v", beside)
	}
	dry, _, _ := use(t, c, "run_operation", `{"operation":"Document.Delete","input":"/default-domain/workspaces/w","dryRun":true}`)
	if changes, _ := dry["changes"].([]any); len(changes) == 0 || dry["dryRun"] != true {
		t.Errorf("dry run: %v", dry)
	}
	tests := []struct{ tool, args, want string }{
		{"run_operation", `{"operation":"Document.Creat"}`, "notfound (unknown_operation): operation Document.Creat: does not exist, perhaps Document.Create"},
		{"run_operation", `{"operation":"Document.GetChild","input":"/none"}`, `notfound: Document.GetChild: /none`},
		{"run_operation", `{"operation":"Test.Panic"}`, "internal: the server failed"},
		{"run_operation", `{"operation":"Document.GetChild","input":"/default-domain/workspaces","params":{"name":"w"},"repository":"beside"}`, "notfound: Document.GetChild: /default-domain/workspaces/w"},
		{"run_operation", `{"operation":"Document.GetChildren","repository":"nope"}`, "notfound: repository nope"},
		{"run_operation", `{"op":"Document.Create"}`, `invalid: arguments: unknown argument "op", must be operation, input, params, context, dryRun, properties, maxTokens, repository, repeats, version`},
		{"run_operation", `{"operation":"Document.Create","input":"/default-domain/workspaces","params":{"type":"File","title":"t"}}`, `invalid: Document.Create: unknown parameter "title"; the parameters are type, name, properties`},
		{"run_operation", `{"operation":"Document.Create","input":"/default-domain/workspaces","params":{"typ":"File"}}`, `invalid: Document.Create: unknown parameter "typ", perhaps type`},
		{"run_operation", `{"operation":"Document.Create","maxTokens":10}`, "invalid: maxTokens: 10 is not between 500 and 200000"},
		{"search_operations", `{"limit":0}`, "invalid: limit: 0 is not between 1 and 50"},
		{"describe_operation", `{"name":"Nothing.Like.This.There.Is"}`, "unknown_operation: operation Nothing.Like.This.There.Is (find operations with search_operations)"},
	}
	for _, test := range tests {
		_, got, failed := use(t, c, test.tool, test.args)
		if got, _, _ = strings.Cut(got, "\n"); !failed || got != test.want { // what to do next is in TestMistakes
			t.Errorf("%s %s: got %q, want %q", test.tool, test.args, got, test.want)
		}
	}
	var kept []string
	for _, e := range s.Do("GET", "/api/v1/automation/runs?state=failed", "").JSON(t)["entries"].([]any) {
		run := e.(map[string]any)
		kept = append(kept, fmt.Sprint(run["op"], " ", run["door"], " ", run["repository"]))
	}
	if want := []string{"Document.GetChild mcp beside", "Test.Panic mcp default"}; !slices.Equal(kept, want) {
		t.Errorf("failed runs that are kept: %q, want %q", kept, want)
	}
	low := connect(t, s, "/mcp/automation", s.Key("alice", "read_only"), "2025-11-25")
	if _, got, failed := use(t, low, "run_operation", `{"operation":"Document.Create","input":"/","params":{"type":"File"}}`); !failed || got != "denied (insufficient_scope): operation Document.Create writes, but the key is read-only" {
		t.Errorf("read-only key: %s", got)
	}
}

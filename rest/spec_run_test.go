package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// revisions are the ways to ask: for one revision, or for what both have.
var revisions = map[string]string{"A": "A", "B": "B", "union": ""}

// TestSpecFields asks every endpoint in every revision, and compares what it returns with the
// tables: that the fields are there and no others, and in what is only read their values.
func TestSpecFields(t *testing.T) {
	for name, revision := range revisions {
		t.Run(name, func(t *testing.T) {
			s := describe(t)
			s.fill()
			for _, e := range specEndpoints {
				path := place(e.path, 1, 1, 1)
				what := e.method + " " + path
				a := s.ask("lead:"+revision, e.method, path, bodyOf(e.method, e.path))
				if a.StatusCode != e.status {
					t.Errorf("%s: %s %s, want %d", what, a.Status, a.Text, e.status)
					continue
				}
				if e.data == "" {
					if a.Text != "" {
						t.Errorf("%s: body %s", what, a.Text)
					}
					continue
				}
				body, names := a.JSON(t), "data"
				if e.meta != "" {
					names = "data meta"
					s.holds(what, e.meta, "", false, body["meta"], nil)
				}
				if members(body) != names {
					t.Errorf("%s: has %s, want %s", what, members(body), names)
				}
				item := body["data"]
				resource, list := strings.CutPrefix(e.data, "[]")
				if list {
					item = item.([]any)[0]
				}
				s.holds(what, resource, revision, e.method != "GET", item, nil)
			}
		})
	}
}

// TestSpecValues compares every field of every resource with its value, when everything was
// filled in and when nothing was.
func TestSpecValues(t *testing.T) {
	for name, revision := range revisions {
		t.Run(name, func(t *testing.T) {
			s := describe(t)
			s.fill()
			for _, read := range []struct {
				who, path, resource string
				item                int // of a list; -1: no list
				column              func(specField) string
			}{
				{"lead", "/v1/user", "User", -1, full},
				{"free", "/v1/user", "User", -1, bare},
				{"lead", "/v1/decks", "Deck summary", 1, full},
				{"lead", "/v1/decks", "Deck summary", 0, bare},
				{"lead", "/v1/decks/trashed", "Trashed deck summary", 1, full},
				{"lead", "/v1/decks/trashed", "Trashed deck summary", 0, bare},
				{"lead", "/v1/decks/1", "Deck detail", -1, full},
				{"lead", "/v1/decks/1?include_deck_html=true", "Deck detail", -1, full},
				{"lead", "/v1/decks/2?include_deck_html=true", "Deck detail", -1, bare},
				{"admin", "/v1/team/decks", "Team deck summary", 0, full},
				{"admin", "/v1/team/decks/1", "Team deck detail", -1, full},
				{"admin", "/v1/team/decks/1?include_deck_html=true", "Team deck detail", -1, full},
				{"lead", "/v1/decks/1/share", "Private share link", 1, full},
				{"lead", "/v1/decks/1/share", "Private share link", 0, bare},
				{"lead", "/v1/decks/1/exports/1", "Export", -1, full},
				{"lead", "/v1/decks/1/exports/2", "Export", -1, bare},
			} {
				body := s.must(s.ask(read.who+":"+revision, "GET", read.path, "")).JSON(t)
				item := body["data"]
				if read.item >= 0 {
					item = item.([]any)[read.item]
				}
				s.holds(read.path, read.resource, revision, strings.HasSuffix(read.path, "=true"), item, read.column)
				meta := map[string]string{
					"/v1/decks": "page", "/v1/decks/trashed": "page", "/v1/decks/1/share": "total", "/v1/decks/1/exports/2": "poll",
				}[read.path]
				if meta != "" {
					s.holds(read.path, meta, revision, false, body["meta"], full)
				}
			}
		})
	}
}

// TestSpecAccess asks every endpoint for everybody: without a key, with one that only reads,
// as users of every kind, for a deck of the caller's own and for somebody else's.
func TestSpecAccess(t *testing.T) {
	s := describe(t)
	plan := map[string]bool{"pro": true, "lead": true, "admin": true, "member": true}
	for _, e := range specEndpoints {
		ask := func(who, want string, own map[string]any) {
			t.Helper()
			path := place(e.path, own["deck"], own["link"], own["export"])
			if got := status(s.ask(who, e.method, path, bodyOf(e.method, e.path))); got != want {
				t.Errorf("%s %s as %s: %s, want %s", e.method, path, who, got, want)
			}
		}
		team := strings.HasPrefix(e.path, "/v1/team")
		for name := range users {
			own := s.have(name, plan[name], e.path)
			good := fmt.Sprint(e.status)
			ask("", "401 not_signed_in", own)
			reads := good
			if strings.Contains(e.needs, "write") {
				reads = "403 insufficient_scope"
			}
			if !team && (!strings.Contains(e.needs, "plan") || plan[name]) && strings.Contains(e.path, ":") {
				ask("stranger", "404 notfound", own)
			}
			switch {
			case strings.Contains(e.needs, "plan") && !plan[name]:
				good = "403 plan_required"
				if reads != "403 insufficient_scope" {
					reads = good
				}
			case team && name != "lead" && name != "admin":
				good, reads = "403 team_role_required", "403 team_role_required"
			}
			ask(name+"/read", reads, own)
			ask(name, good, own)
			if strings.Contains(e.path, ":") && good == fmt.Sprint(e.status) {
				for _, none := range []any{"x", "1.5", "-1", "01", 999999} {
					ask(name, "404 notfound", map[string]any{"deck": none, "link": own["link"], "export": own["export"]})
				}
			}
		}
		if got := status(s.Do(e.method, place(e.path, 1, 1, 1), bodyOf(e.method, e.path), bearer("cat_1_no")...)); got != "401 not_signed_in" {
			t.Errorf("%s %s with a wrong key: %s", e.method, e.path, got)
		}
	}
}

// have makes a deck of a user's with what an endpoint is about. The user "stranger" is
// somebody with every right but on that deck.
func (s *described) have(name string, plan bool, path string) map[string]any {
	s.t.Helper()
	if s.keys["stranger"] == "" {
		s.User("stranger")
		account(s.t, s.Server, "stranger", "pro", "", 0)
		s.keys["stranger"] = s.Key("stranger", "read_write")
	}
	s.skip.Add(int64(time.Hour)) // another hour has exports again
	body := `{}`
	if name == "lead" || name == "admin" {
		body = `{"visibility":"team"}`
	}
	deck := s.data(name, "POST", "/v1/decks", body)["id"]
	own := map[string]any{"deck": deck, "link": 1, "export": 1}
	at := fmt.Sprintf("/v1/decks/%v", deck)
	if plan && strings.Contains(path, "/share") {
		own["link"] = s.data(name, "POST", at+"/share", `{}`)["id"]
	}
	if strings.Contains(path, "/exports") {
		own["export"] = s.data(name, "POST", at+"/exports", `{"format":"zip"}`)["id"]
	}
	return own
}

// call calls a tool as the specification has it, over HTTP.
func (s *described) call(who, method, params string) map[string]any {
	s.t.Helper()
	a := s.ask(who, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, "Accept", "application/json, text/event-stream")
	if a.StatusCode != http.StatusOK {
		s.t.Fatalf("%s %s: %s %s", method, params, a.Status, a.Text)
	}
	text := a.Text
	if !strings.HasPrefix(text, "{") { // one event, or only JSON
		_, text, _ = strings.Cut(text, "data: ")
	}
	var out struct{ Result map[string]any }
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		s.t.Fatalf("%v: %s", err, a.Text)
	}
	return out.Result
}

// TestSpecTools compares the tools with their table: what they declare to take, what a key
// that only reads may do, and that they return the fields of revision B.
func TestSpecTools(t *testing.T) {
	s := describe(t)
	s.fill()
	declared := map[string]map[string]any{}
	for _, tool := range s.call("lead", "tools/list", `{}`)["tools"].([]any) {
		tool := tool.(map[string]any)
		declared[tool["name"].(string)] = tool["inputSchema"].(map[string]any)
		// A model that reads instructions in a deck can do no harm for good: every tool says what it may do, and none deletes.
		hints, _ := tool["annotations"].(map[string]any)
		if hints["openWorldHint"] != false || hints["readOnlyHint"] != true && hints["destructiveHint"] == nil || strings.HasPrefix(tool["name"].(string), "delete") {
			t.Errorf("%v: hints %v", tool["name"], hints)
		}
	}
	if want := len(specTools) + len(moreTools); len(declared) != want {
		t.Errorf("%d tools, want %d", len(declared), want)
	}
	for _, name := range moreTools {
		if declared[name] == nil {
			t.Errorf("no tool %s", name)
		}
	}
	args := map[string]string{
		"list_decks": `{}`, "get_deck": `{"id":1}`, "create_deck": `{}`, "update_deck": `{"id":2,"title":"New"}`, "trash_deck": `{"id":2}`, "recover_deck": `{"id":2}`,
		"get_user": `{}`, "list_trashed_decks": `{}`, "list_share_links": `{"deck_id":1}`, "create_share_link": `{"deck_id":1}`, "revoke_share_link": `{"deck_id":1,"id":2}`,
		"get_export": `{"deck_id":1,"id":1}`, "create_export": `{"deck_id":1,"format":"pdf"}`, "list_team_decks": `{}`, "get_team_deck": `{"id":1}`,
	}
	for _, tool := range specTools {
		s.takes(tool.name, tool.inputs, declared[tool.name])
		call := `{"name":"` + tool.name + `","arguments":` + args[tool.name] + `}`
		reading := s.call("lead/read", "tools/call", call)
		if refused := reading["isError"] == true; refused != (tool.needs == "write") || refused && !strings.Contains(jsonOf(t, reading), "insufficient_scope") {
			t.Errorf("%s with a key that only reads: %v", tool.name, reading)
		}
		if tool.returns == "" {
			continue
		}
		got, _ := s.call("lead", "tools/call", call)["structuredContent"].(map[string]any)
		resource, list := strings.CutPrefix(tool.returns, "[]")
		if list {
			for i, item := range got["data"].([]any) {
				s.holds(fmt.Sprint(tool.name, " ", i), resource, "B", false, item, nil)
			}
		} else {
			s.holds(tool.name, resource, "B", true, got, nil)
		}
		if tool.same == "" {
			continue
		}
		same := s.must(s.ask("lead:B", "GET", tool.same, "")).JSON(t)
		if !list {
			same, _ = same["data"].(map[string]any)
		}
		if jsonOf(t, got) != jsonOf(t, same) {
			t.Errorf("%s returns\n%s, but GET %s\n%s", tool.name, jsonOf(t, got), tool.same, jsonOf(t, same))
		}
	}
	for _, bad := range []struct{ call, want string }{
		{`{"name":"update_deck","arguments":{"id":1,"width":0}}`, "too_small"},
		{`{"name":"update_deck","arguments":{"id":1,"data":"<p>x</p>"}}`, "invalid_html"},
		{`{"name":"create_deck","arguments":{"visibility":"none"}}`, "visibility"},
		{`{"name":"list_decks","arguments":{"per_page":101}}`, "out_of_range"},
		{`{"name":"trash_deck","arguments":{"id":99}}`, "notfound"},
	} {
		if got := s.call("lead", "tools/call", bad.call); got["isError"] != true || !strings.Contains(jsonOf(t, got), bad.want) {
			t.Errorf("%s: %v, want an error of the tool's with %s", bad.call, got, bad.want)
		}
	}
}

// takes compares what a tool declares to take with its table.
func (s *described) takes(tool, inputs string, schema map[string]any) {
	s.t.Helper()
	properties, _ := schema["properties"].(map[string]any)
	required := fmt.Sprint(schema["required"])
	left := map[string]bool{}
	for name := range properties {
		left[name] = true
	}
	for input := range strings.FieldsSeq(inputs) {
		parts := append(strings.Split(input, ":"), "", "", "")
		name, must := strings.CutSuffix(parts[0], "*")
		p, _ := properties[name].(map[string]any)
		delete(left, name)
		if p["type"] != parts[1] || strings.Contains(" "+strings.Trim(required, "[]")+" ", " "+name+" ") != must {
			s.t.Errorf("%s: %s is %v, required %s", tool, name, p, required)
		}
		for i, key := range []string{"default", "minimum", "maximum"} {
			if want := strings.ReplaceAll(parts[2+i], "_", " "); want != "" && fmt.Sprint(p[key]) != want {
				s.t.Errorf("%s: %s of %s is %v, want %s", tool, key, name, p[key], want)
			}
		}
	}
	if schema["additionalProperties"] != false || len(left) > 0 {
		s.t.Errorf("%s: takes %v besides", tool, left)
	}
}

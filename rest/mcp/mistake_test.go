package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMistakes makes the mistakes that models make. Each error says what is wrong, and what to do instead.
func TestMistakes(t *testing.T) {
	p := office(t)
	for _, c := range []struct{ name, tool, args, wrong, then string }{
		{"misspelt operation", "run_operation", `{"operation":"Document.Creat"}`, "operation Document.Creat: does not exist, perhaps Document.Create", "Document.Create"},
		{"operation named otherwise", "run_operation", `{"operation":"lock_document","input":"$office/plan"}`, "operation lock_document", "Document.Lock"},
		{"description of no operation", "describe_operation", `{"name":"lock"}`, "operation lock", "Document.Lock"},
		{"argument of another tool", "run_operation", `{"op":"Document.Lock"}`, `unknown argument "op", must be operation, input`, ""},
		{"no operation", "run_operation", `{"input":"/"}`, "operation: is missing; find operations with search_operations", ""},
		{"misspelt parameter", "run_operation", `{"operation":"Document.Create","input":"/","params":{"typ":"File"}}`, `unknown parameter "typ", perhaps type`, "describe_operation"},
		{"parameter of another type", "run_operation", `{"operation":"Repository.Query","params":{"query":"SELECT * FROM Note","pageSize":"many"}}`, `parameter "pageSize": must be of type integer, not text "many"`, ""},
		{"missing parameter", "run_operation", `{"operation":"Document.Create","input":"/"}`, `parameter "type" is missing`, ""},
		{"missing input", "run_operation", `{"operation":"Document.Lock"}`, "input: is missing, must be of type document", "path or id"},
		{"document that is not there", "run_operation", `{"operation":"Document.Lock","input":"$office/nowhere"}`, "/default-domain/workspaces/office/nowhere", "Document.GetChildren"},
		{"text where a document belongs", "run_operation", `{"operation":"Document.Lock","input":"plan"}`, "plan", "Repository.Query"},
		{"document without a file", "run_operation", `{"operation":"Blob.ToPDF","input":"$office/archive"}`, "has no file", "Blob.AttachOnDocument"},
		{"query in words", "run_operation", `{"operation":"Repository.Query","params":{"query":"notes about telescopes"}}`, "expected SELECT", "ecm:fulltext = 'plan'"},
		{"type of no document", "run_operation", `{"operation":"Repository.Query","params":{"query":"SELECT * FROM Notes"}}`, `unknown document type "Notes", perhaps Note`, ""},
		{"property of no schema", "run_operation", `{"operation":"Document.SetProperty","input":"$office/plan","params":{"xpath":"dc:titel","value":"x"}}`, "dc:title", ""},
		{"date in words", "run_operation", `{"operation":"Document.Update","input":"$office/plan","params":{"properties":{"dc:valid":"yesterday"}}}`, `property dc:valid: must be of type date, not "yesterday"`, ""},
		{"run that is not there", "run_operation", `{"repeats":"123"}`, "run 123", "Run.List"},
		{"version without a run", "run_operation", `{"operation":"Log","version":"same"}`, "version: is only for repeats", ""},
		{"chain that is not there", "run_operation", `{"operation":"Chain.Read","params":{"name":"Note.Nope"}}`, "chain Note.Nope", "Chain.List"},
		{"schedule in words", "run_operation", `{"operation":"Schedule.Save","params":{"source":"name: X\nas: system\ncron: daily\nrun: Log\n"}}`, "cron: expected exactly 5 fields", ""},
		{"fewer tokens than a result needs", "run_operation", `{"operation":"Log","maxTokens":10}`, "maxTokens: 10 is not between 500 and 200000", ""},
	} {
		res, err := p.sessions["call"].CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(p.filled(c.args))})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var said []string
		for _, part := range res.Content {
			if text, ok := part.(*mcp.TextContent); ok {
				said = append(said, text.Text)
			}
		}
		all := strings.Join(said, "\n")
		if !res.IsError || !strings.Contains(said[0], c.wrong) || !strings.Contains(all, c.then) || c.then == "" && len(said) != 1 || len(all) > 600 {
			t.Errorf("%s: %s", c.name, all)
		}
	}
	// The result of a large answer says what was left out, and how to get it.
	res, err := p.sessions["call"].CallTool(t.Context(), &mcp.CallToolParams{Name: "run_operation", Arguments: json.RawMessage(`{"operation":"Repository.Query","params":{"query":"SELECT * FROM Note","pageSize":60},"properties":["*"],"maxTokens":500}`)})
	if err != nil || res.IsError {
		t.Fatal(err, res)
	}
	m, _ := res.StructuredContent.(map[string]any)
	if omitted, _ := m["omitted"].(string); !strings.Contains(omitted, "maxTokens") {
		t.Errorf("what was left out: %q", omitted)
	}
	if _, err := p.sessions["call"].CallTool(t.Context(), &mcp.CallToolParams{Name: "get_document"}); err == nil || !strings.Contains(err.Error(), "run_operation") {
		t.Errorf("an unknown tool: %v", err)
	}
}

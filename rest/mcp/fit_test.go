package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestTokens asks for results that are longer than a model wants: they are shortened, and say how to get the rest.
func TestTokens(t *testing.T) {
	s := start(t, -1)
	key := s.Key("Administrator", "read_write")
	c := connect(t, s, "/mcp/automation", key, "2025-11-25")
	tools, err := c.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for i := range 300 {
		entries = append(entries, fmt.Sprintf(`{"name":"many-%03d","type":"Note","dc:description":%q}`, i, strings.Repeat("long ", 100)))
	}
	loaded := s.Do("POST", "/api/v1/bulk?key=name&into=/default-domain/workspaces", strings.Join(entries, "\n"), "Content-Type", "application/x-ndjson")
	if loaded.StatusCode >= 300 {
		t.Fatalf("load: %s %.300s", loaded.Status, loaded.Text)
	}
	for _, test := range []struct {
		name, args string
		entries    int    // of the page
		omitted    string // a part of what is said
	}{
		{"a page without a size has 20 entries", `{"query":"SELECT * FROM Note"}}`, 20, ""},
		{"a larger page", `{"query":"SELECT * FROM Note","pageSize":100}}`, 100, ""},
		{"one that is too long", `{"query":"SELECT * FROM Note","pageSize":300},"properties":["dc:description"]}`, -1, "of 300 entries are shown. Ask for fewer"},
		{"with more tokens", `{"query":"SELECT * FROM Note","pageSize":300},"properties":["dc:description"],"maxTokens":100000}`, 300, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, text, failed := use(t, c, "run_operation", `{"operation":"Repository.Query","params":`+test.args)
			body, err := json.Marshal(out)
			if failed || err != nil {
				t.Fatalf("%s %v", text, err)
			}
			conforms(t, tools.Tools, "run_operation", out)
			page, _ := out["result"].(map[string]any)
			got, _ := page["entries"].([]any)
			omitted, _ := out["omitted"].(string)
			if test.entries >= 0 && len(got) != test.entries || (test.omitted == "") != (omitted == "") || !strings.Contains(omitted, test.omitted) {
				t.Errorf("%d entries, omitted: %q", len(got), omitted)
			}
			if len(body) > 33_000 && !strings.Contains(test.args, "maxTokens") || test.omitted != "" && len(got) < 20 {
				t.Errorf("%d bytes, %d entries", len(body), len(got))
			}
			if strings.Contains(text, "many-001") || text == "" {
				t.Errorf("the text repeats the result: %.200s", text)
			}
		})
	}
	old := connect(t, s, "/mcp/automation", key, "2025-03-26")
	if _, text, _ := use(t, old, "run_operation", `{"operation":"Repository.Query","params":{"query":"SELECT * FROM Note"}}`); !strings.Contains(text, `"path":"/default-domain/workspaces/many-`) {
		t.Errorf("a client that knows no structured results gets: %.200s", text)
	}
	longText(t, s, key)
}

// longText reads a file whose text is longer than a result.
func longText(t *testing.T, s *resttest.Server, key string) {
	t.Helper()
	c := connect(t, s, "/mcp/automation", key, "2026-07-28")
	args := fmt.Sprintf(`{"operation":"Data.ToFile","input":%q,"params":{"name":"a.txt"}}`, strings.Repeat("é\n", 30_000))
	out, text, failed := use(t, c, "run_operation", args)
	file, _ := out["result"].(map[string]any)
	data, _ := file["data"].(string)
	if failed || len(data) < 5_000 || len(data) > 32_000 || strings.Trim(data, "é\n") != "" || !strings.Contains(text, fmt.Sprintf("Only the first %d bytes of the text are shown", len(data))) {
		t.Errorf("%d bytes of text, %.200s", len(data), text)
	}
}

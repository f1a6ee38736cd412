package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPeople goes through the commands on users, teams, decks and tools on one data directory.
func TestPeople(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "d")
	talk := filepath.Join(dir, "talk.md")
	if err := os.WriteFile(talk, []byte("# Talk\n\n---\n\n<a onclick=x>two</a>\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	messages := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}

{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"list_decks","arguments":{}}}
no message
`
	tests := []struct {
		args, in string
		code     int
		want     string
	}{
		{"init", "", 0, ""},
		{"user create ada --email ada@example.org", "secret\n", 0, ""},
		{"user create ada", "x\n", 1, "user ada: already exists"},
		{"user password ada", "other\n", 0, ""},
		{"user password ada", "\n", 2, "password: must not be empty"},
		{"user account ada pro --billing yearly", "", 0, ""},
		{"user account ada gold", "", 1, "is not one of free, lite, pro"},
		{"team create Wonderland --owner ada", "", 0, "ID  SLUG        NAME\n1   wonderland  Wonderland\n\nUSER  ROLE\nada   owner\n"},
		{"user account ada pro", "", 1, "in team 1"},
		{"team add 1 Administrator --role admin", "", 0, "Administrator"},
		{"team list", "", 0, "ID  SLUG        NAME\n1   wonderland  Wonderland\n"},
		{"team remove 1 Administrator", "", 0, ""},
		{"team show 1 --json", "", 0, `"role": "owner"`},
		{"team show x", "", 2, "is not a number"},
		{"deck import " + talk, "", 0, "removed attribute onclick of <a>"},
		{"deck list", "", 0, "1   Talk   /decks/Administrator/talk"},
		{"user create bob", "", 0, ""},
		{"group create crew --label Crew --groups members", "", 0, ""},
		{"group create crew", "", 1, "crew"},
		{"group add crew ada bob", "", 0, ""},
		{"group add crew nobody", "", 3, "user does not exist"},
		{"group add none ada", "", 3, "group does not exist"},
		{"group show crew", "", 0, "KIND   MEMBER\nuser   ada\nuser   bob\ngroup  members\n"},
		{"group list cre", "", 0, "GROUP  LABEL  USERS  GROUPS\ncrew   Crew   2      members\n"},
		{"group remove crew bob", "", 0, ""},
		{"group show crew --json", "", 0, `"memberUsers": [
    "ada"
  ]`},
		{"group delete crew", "", 0, ""},
		{"group show crew", "", 3, "group does not exist"},
		{"deck import " + data, "", 2, ""},
		{"mcp", messages, 0, `{"jsonrpc":"2.0","id":"b","result":{"content"`},
		{"mcp", messages, 0, `"code":-32700`},
		{"team delete 1", "", 0, ""},
		{"user delete ada", "", 0, ""},
	}
	for _, test := range tests {
		var out bytes.Buffer
		code := run(context.Background(), append(strings.Fields(test.args), "--data", data), strings.NewReader(test.in), &out, &out)
		if code != test.code || !strings.Contains(out.String(), test.want) {
			t.Fatalf("%s: exit code %d, want %d: %s\nwant %s", test.args, code, test.code, &out, test.want)
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// exits is a table of command lines with the code that each ends with. Those after the server's start work on a
// running server; ":dir" is a folder for this test alone.
var exits = []struct {
	line string
	want int
	json string // what --json prints begins with; "" for what prints nothing, or no JSON
}{
	{"init --data :dir/new", 0, `{"data":`},
	{"init --data :dir/new", 0, `{"data":`},
	{"init --data :dir/file/new", 2, ""},
	{"init more", 2, ""},
	{"config check", 0, `{"problems":[]}`},
	{"config check --rate no", 2, ""},
	{"config check --smtp-host x", 2, `{"problems":["smtp-from`},
	{"config print", 0, `[{"name":`},
	{"config print --config :dir/none", 2, ""},
	{"doctor --data :dir/new --addr 127.0.0.1:0 --chromium off", 0, `{"checks":[`},
	{"doctor --data :dir/file --addr 127.0.0.1:0 --chromium off", 1, `{"checks":[`},
	{"doctor --server http://127.0.0.1:1", 2, ""},
	{"backup :dir/all.tar --data :dir/new", 0, ""},
	{"backup - --data :dir/none", 2, ""},
	{"restore :dir/all.tar --data :dir/copied", 0, `{"data":`},
	{"restore :dir/all.tar --data :dir/copied", 1, ""},
	{"restore :dir/none.tar --data :dir/again", 2, ""},
	{"restore :dir/file --data :dir/again", 4, ""},
	{"copy :dir/new", 2, ""},
	{"copy :dir/new :dir/again", 2, ""},
	{"copy :dir/none postgres://127.0.0.1:1/none", 2, ""},
	{"copy :dir/new postgres://127.0.0.1:1/none --blobs :dir/content", 1, ""},
	{"compact --data :dir/copied", 0, `{"blobs":{"before":`},
	{"compact --data :dir/none", 2, ""},
	{"compact --data :dir/damaged", 4, ""},
	{"compact --server http://127.0.0.1:1", 2, ""},
	{"blobs move folder --data :dir/copied", 0, `{"sent":`},
	{"blobs move folder --data :dir/none", 2, ""},
	{"blobs move", 2, ""},
	{"verify --data :dir/copied", 0, `{"problems":[]}`},
	{"verify --data :dir/none", 2, ""},
	{"verify --data :dir/damaged", 4, ""},
	{"serve --addr nowhere:none --data :dir/new", 2, ""},
	{"serve --data :dir/damaged", 4, ""},
	{"run Login --data :dir/damaged", 4, ""},
	{"version", 0, `{"go":`},
	{"version --sbom", 0, `{"bomFormat":`},
	{"version x", 2, ""},
	{"nodes", 2, ""},
	{"nodes more", 2, ""},
	{"nothing", 2, ""},
	{"mcp --server ftp://x", 2, ""},

	{"chain apply :dir/C.yaml", 0, `[{"file":`},
	{"chain apply :dir/v2/C.yaml", 0, `[{"file":`},
	{"chain apply :dir/bad.yaml", 1, `[]`},
	{"chain apply :dir/none.yaml", 2, ""},
	{"chain check :dir/C.yaml", 0, `[{"file":`},
	{"chain check :dir/C.yaml :dir/bad.yaml", 1, `[{"file":`},
	{"chain check", 2, ""},
	{"chain list", 0, `[{"name":"C"`},
	{"chain show C", 0, `{"name":"C"`},
	{"chain show Nothing", 3, ""},
	{"chain versions C", 0, `[{"name":"C"`},
	{"chain versions Nothing", 3, ""},
	{"chain diff C", 0, `{"diff":`},
	{"chain diff Nothing", 3, ""},
	{"chain restore C 1", 0, `{"name":"C"`},
	{"chain restore C 99", 3, ""},
	{"chain restore C one", 2, ""},
	{"chain run C", 0, ""},
	{"chain run Nothing", 3, ""},
	{"chain export :dir/out", 0, `[{"file":`},
	{"chain export :dir/file", 1, ""},
	{"chain delete C", 0, ""},
	{"chain delete C", 3, ""},
	{"script apply :dir/s.js", 0, `[{"file":`},
	{"script check :dir/s.js", 0, `[{"file":`},
	{"script run :dir/s.js", 0, "{"},
	{"script run :dir/none.js", 2, ""},
	{"script list", 0, `[{"name":`},
	{"script show S.One", 0, `{"name":`},
	{"script versions S.One", 0, `[{"name":`},
	{"script diff Nothing", 3, ""},
	{"script restore S.One 9", 3, ""},
	{"script export :dir/out", 0, `[{"file":`},
	{"script types -o :dir/catena.d.ts", 0, ""},
	{"script delete Nothing", 3, ""},
	{"listener apply :dir/bad.yaml", 1, `[]`},
	{"listener check :dir/bad.yaml", 1, `[{"file":`},
	{"listener list", 0, `[]`},
	{"listener show Nothing", 3, ""},
	{"listener versions Nothing", 3, ""},
	{"listener diff Nothing", 3, ""},
	{"listener restore Nothing 1", 3, ""},
	{"listener export :dir/out", 0, `[]`},
	{"listener delete Nothing", 3, ""},
	{"type apply :dir/bad.yaml", 1, `[]`},
	{"type check :dir/bad.yaml", 1, `[{"file":`},
	{"type list", 0, `[]`},
	{"type show Nothing", 3, ""},
	{"type versions Nothing", 3, ""},
	{"type diff Nothing", 3, ""},
	{"type restore Nothing 1", 3, ""},
	{"type export :dir/out", 0, `[]`},
	{"type delete Nothing", 3, ""},
	{"vocabulary apply :dir/bad.yaml", 1, `[]`},
	{"vocabulary check :dir/bad.yaml", 1, `[{"file":`},
	{"vocabulary list", 0, `[]`},
	{"vocabulary show Nothing", 3, ""},
	{"vocabulary versions Nothing", 3, ""},
	{"vocabulary diff Nothing", 3, ""},
	{"vocabulary restore Nothing 1", 3, ""},
	{"vocabulary export :dir/out", 0, `[]`},
	{"vocabulary delete Nothing", 3, ""},
	{"action apply :dir/bad.yaml", 1, `[]`},
	{"action check :dir/bad.yaml", 1, `[{"file":`},
	{"action list", 0, `[]`},
	{"action show Nothing", 3, ""},
	{"action versions Nothing", 3, ""},
	{"action diff Nothing", 3, ""},
	{"action restore Nothing 1", 3, ""},
	{"action export :dir/out", 0, `[]`},
	{"action delete Nothing", 3, ""},
	{"mail apply :dir/bad.yaml", 1, `[]`},
	{"mail check :dir/bad.yaml", 1, `[{"file":`},
	{"mail list", 0, `[]`},
	{"mail show Nothing", 3, ""},
	{"mail versions Nothing", 3, ""},
	{"mail diff Nothing", 3, ""},
	{"mail restore Nothing 1", 3, ""},
	{"mail export :dir/out", 0, `[]`},
	{"mail delete Nothing", 3, ""},
	{"provider apply :dir/bad.yaml", 1, `[]`},
	{"provider check :dir/bad.yaml", 1, `[{"file":`},
	{"provider list", 0, `[]`},
	{"provider show Nothing", 3, ""},
	{"provider versions Nothing", 3, ""},
	{"provider diff Nothing", 3, ""},
	{"provider restore Nothing 1", 3, ""},
	{"provider export :dir/out", 0, `[]`},
	{"provider delete Nothing", 3, ""},
	{"template apply :dir/bad.yaml", 1, `[]`},
	{"template check :dir/bad.yaml", 1, `[{"file":`},
	{"template list", 0, `[]`},
	{"template show Nothing", 3, ""},
	{"template versions Nothing", 3, ""},
	{"template diff Nothing", 3, ""},
	{"template restore Nothing 1", 3, ""},
	{"template export :dir/out", 0, `[]`},
	{"template delete Nothing", 3, ""},
	{"workflow apply :dir/bad.yaml", 1, `[]`},
	{"workflow check :dir/bad.yaml", 1, `[{"file":`},
	{"workflow list", 0, `[]`},
	{"workflow show Nothing", 3, ""},
	{"workflow versions Nothing", 3, ""},
	{"workflow diff Nothing", 3, ""},
	{"workflow restore Nothing 1", 3, ""},
	{"workflow export :dir/out", 0, `[]`},
	{"workflow delete Nothing", 3, ""},
	{"schedule apply :dir/D.yaml", 0, `[{"file":`},
	{"schedule apply :dir/v2/D.yaml", 0, `[{"file":`},
	{"schedule apply :dir/bad.yaml", 1, `[]`},
	{"schedule apply :dir/none.yaml", 2, ""},
	{"schedule check :dir/D.yaml", 0, `[{"file":`},
	{"schedule check :dir/D.yaml :dir/bad.yaml", 1, `[{"file":`},
	{"schedule check", 2, ""},
	{"schedule list", 0, `[{"name":"D"`},
	{"schedule show D", 0, `{"name":"D"`},
	{"schedule show Nothing", 3, ""},
	{"schedule versions D", 0, `[{"name":"D"`},
	{"schedule versions Nothing", 3, ""},
	{"schedule diff D", 0, `{"diff":`},
	{"schedule diff Nothing", 3, ""},
	{"schedule restore D 1", 0, `{"name":"D"`},
	{"schedule restore D 99", 3, ""},
	{"schedule restore D one", 2, ""},
	{"schedule status", 0, `[{"name":"D"`},
	{"schedule status more", 2, ""},
	{"schedule stop D", 0, ""},
	{"schedule stop Nothing", 3, ""},
	{"schedule stop", 2, ""},
	{"schedule resume D", 0, ""},
	{"schedule resume Nothing", 3, ""},
	{"schedule resume", 2, ""},
	{"schedule export :dir/out", 0, `[{"file":`},
	{"schedule export :dir/file", 1, ""},
	{"schedule delete D", 0, ""},
	{"schedule delete D", 3, ""},
	{"hook apply :dir/H.yaml", 0, `[{"file":`},
	{"hook apply :dir/v2/H.yaml", 0, `[{"file":`},
	{"hook apply :dir/bad.yaml", 1, `[]`},
	{"hook apply :dir/none.yaml", 2, ""},
	{"hook check :dir/H.yaml", 0, `[{"file":`},
	{"hook check :dir/H.yaml :dir/bad.yaml", 1, `[{"file":`},
	{"hook check", 2, ""},
	{"hook list", 0, `[{"name":"H"`},
	{"hook show H", 0, `{"name":"H"`},
	{"hook show Nothing", 3, ""},
	{"hook versions H", 0, `[{"name":"H"`},
	{"hook versions Nothing", 3, ""},
	{"hook diff H", 0, `{"diff":`},
	{"hook diff Nothing", 3, ""},
	{"hook restore H 1", 0, `{"name":"H"`},
	{"hook restore H 99", 3, ""},
	{"hook restore H one", 2, ""},
	{"hook status", 0, `[{"name":"H"`},
	{"hook status more", 2, ""},
	{"hook secret H", 0, `{"name":"H"`},
	{"hook secret Nothing", 3, ""},
	{"hook secret", 2, ""},
	{"hook export :dir/out", 0, `[{"file":`},
	{"hook secret H", 0, `{"name":"H"`},
	{"hook secret Nothing", 3, ""},
	{"hook secret", 2, ""},
	{"hook export :dir/file", 1, ""},
	{"hook delete H", 0, ""},
	{"hook delete H", 3, ""},
	{"ops", 0, `{"paths":`},
	{"ops Login", 0, `{`},
	{"ops Nothing", 3, ""},
	{"run Login", 0, `{"entity-type":"login"`},
	{"run Login --file :dir/none", 2, ""},
	{"run Login --params {", 2, ""},
	{"run Document.Fetch --param value=/nowhere", 3, ""},
	{"run Document.Fetch", 1, ""},
	{"runs list", 0, `{"entity-type":`},
	{"runs show none", 3, ""},
	{"runs end none", 3, ""},
	{"runs retry none", 3, ""},
	{"trace", 0, `{"entity-type":`},
	{"trace none", 3, ""},
	{"trace --status perhaps", 1, ""},
	{"import :dir/folder --into /default-domain/workspaces", 0, `{"files":`},
	{"import :dir/none --into /default-domain/workspaces", 2, ""},
	{"import :dir/folder --into /nowhere", 3, ""},
	{"deck import :dir/deck.md", 0, `[{"id":`},
	{"deck import :dir/none.md", 2, `[]`},
	{"deck list", 0, `[{"id":`},
	{"job list", 0, `[`},
	{"job retry none", 3, ""},
	{"job delete none", 3, ""},
	{"key create --name a", 0, `{`},
	{"key create --name a --scope none", 1, ""},
	{"key list", 0, `[{`},
	{"key revoke 999", 3, ""},
	{"key revoke x", 2, ""},
	{"team create T", 0, `{"id":`},
	{"team list", 0, `[{"id":`},
	{"team add 999 Administrator", 3, ""},
	{"team remove 999 Administrator", 3, ""},
	{"team show 999", 3, ""},
	{"team delete 999", 3, ""},
	{"team delete x", 2, ""},
	{"group create crew --users Administrator --label Crew", 0, ""},
	{"group create crew", 1, ""},
	{"group list", 0, `[{"groupname":`},
	{"group show crew", 0, `{"groupname":"crew"`},
	{"group show none", 3, ""},
	{"group add crew Administrator", 0, ""},
	{"group add crew nobody", 3, ""},
	{"group remove crew Administrator", 0, ""},
	{"group delete crew", 0, ""},
	{"group delete crew", 3, ""},
	{"user create ada", 0, ""},
	{"user create ada", 1, ""},
	{"user list", 0, `[{`},
	{"user account ada pro", 0, ""},
	{"user account nobody pro", 3, ""},
	{"user password ada", 2, ""},
	{"user delete ada", 0, ""},
	{"user delete ada", 3, ""},
	{"verify", 2, ""},
}

// TestExits runs the table, which names every verb there is.
func TestExits(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"file": "no folder", "C.yaml": "name: C\nsteps:\n  - op: Login\n", "v2/C.yaml": "name: C\nsteps:\n  - op: Login\n  - op: Login\n", "bad.yaml": "name: B\nsteps:\n  - op: Nothing.There\n", "s.js": "/**\n * @operation S.One\n * @description Returns one.\n * @output object\n */\nfunction run() { return 1; }\n",
		"D.yaml": "name: D\nas: Administrator\nevery: 1h\nrun: Login\n", "v2/D.yaml": "name: D\nas: Administrator\nevery: 2h\nrun: Login\n",
		"H.yaml": "name: H\nas: Administrator\nrun: Login\n", "v2/H.yaml": "name: H\nas: Administrator\nrun: Login\nresponse: result\n",
		"deck.md": "# One\n", "folder/a.txt": "a",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, errs := line(t, "init", "--data", filepath.Join(dir, "damaged")); code != 0 {
		t.Fatal(errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "damaged", "store", "STATE"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startServer(t, filepath.Join(dir, "served"))
	t.Setenv("CATENA_PASSWORD", adminPassword)
	seen := map[string]bool{}
	served := false
	for _, x := range exits {
		args := strings.Fields(strings.ReplaceAll(x.line, ":dir", dir))
		seen[commandOf(t, args)] = true
		if served = served || args[0] == "chain"; served {
			args = append(args, "--server", p.base)
		}
		code, out, errs := line(t, append(args, "--json", "--log-level", "error")...)
		if code != x.want || code != 0 && errs == "" {
			t.Errorf("%s: %d, want %d: %s", x.line, code, x.want, errs)
		}
		var flat bytes.Buffer
		if x.json != "" && (json.Compact(&flat, []byte(out)) != nil || !strings.HasPrefix(flat.String(), x.json)) {
			t.Errorf("%s: %.200s, want %s", x.line, out, x.json)
		}
		if x.json == "" && code != 0 && out != "" {
			t.Errorf("%s: prints %s", x.line, out)
		}
	}
	for _, cmd := range verbs(newRoot(&global{})) {
		if !seen[cmd] {
			t.Errorf("%s: is not in the table", cmd)
		}
	}
	if code, _, errs := line(t, "run", "Login", "--server", "http://127.0.0.1:1"); code != 1 {
		t.Errorf("no server: %d %s", code, errs)
	}
	t.Setenv("CATENA_PASSWORD", "wrong")
	if code, _, errs := line(t, "run", "Login", "--server", p.base); code != 3 {
		t.Errorf("wrong password: %d %s", code, errs)
	}
}

// commandOf is the path of the command that a line names.
func commandOf(t *testing.T, args []string) string {
	t.Helper()
	cmd, _, err := newRoot(&global{}).Find(args)
	if err != nil {
		t.Fatal(err)
	}
	return cmd.CommandPath()
}

// verbs are the paths of all commands that do something.
func verbs(cmd *cobra.Command) (out []string) {
	if !cmd.HasSubCommands() {
		return []string{cmd.CommandPath()}
	}
	for _, c := range cmd.Commands() {
		out = append(out, verbs(c)...)
	}
	return out
}

package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestImportOverRecords: catena import changes no document that must be kept. A record of a file is rejected with its reason, and the
// others are loaded; the files of a folder, which are one call, change nothing then.
func TestImportOverRecords(t *testing.T) {
	p := startServer(t, t.TempDir())
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	catena := func(want int, args ...string) string {
		t.Helper()
		t.Setenv("CATENA_USER", "Administrator")
		t.Setenv("CATENA_PASSWORD", adminPassword)
		code, out, errs := line(t, append(args, "--server", p.base)...)
		if code != want {
			t.Errorf("%v: exit %d, want %d: %s%s", args, code, want, out, errs)
		}
		return out + errs
	}
	write("desk/a.bin", "first a")
	write("desk/deed.bin", "first deed")
	catena(0, "import", filepath.Join(dir, "desk"))
	for _, hold := range []string{"Retain", "Hold"} {
		p.want(t, http.StatusOK, "Administrator", "POST", "/api/v1/automation/Document."+hold, inputCall(`{}`, "doc:/default-domain/workspaces/desk/deed.bin"))
	}
	write("desk/a.bin", "second a")
	write("desk/deed.bin", "second deed")
	if said := catena(3, "import", filepath.Join(dir, "desk"), "--overwrite"); !strings.Contains(said, "is a record, whose file file:content cannot change") {
		t.Errorf("said %s", said)
	}
	for name, want := range map[string]string{"a.bin": "first a", "deed.bin": "first deed"} {
		if got := p.want(t, http.StatusOK, "Administrator", "GET", spaces+"/desk/"+name+"/@blob/file:content", ""); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
	records := write("rows.jsonl", `{"name":"a.bin","dc:description":"loaded"}`+"\n"+`{"name":"deed.bin","dc:description":"loaded"}`+"\n"+`{"name":"new","dc:description":"loaded"}`+"\n")
	rejected := filepath.Join(dir, "rejected.jsonl")
	catena(1, "import", records, "--into", "/default-domain/workspaces/desk", "--key", "name", "--existing", "update", "--rejected", rejected)
	text, err := os.ReadFile(rejected)
	if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), "deed.bin") || !strings.Contains(string(text), "its property dc:description cannot change") {
		t.Errorf("rejected %v: %s", err, text)
	}
	found := p.want(t, http.StatusOK, "Administrator", "GET", "/api/v1/search/lang/NXQL/execute?query="+url.QueryEscape("SELECT * FROM Document WHERE dc:description = 'loaded'"), "")
	if !strings.Contains(found, `desk/a.bin"`) || !strings.Contains(found, `desk/new"`) || strings.Contains(found, "deed.bin") {
		t.Errorf("loaded: %s", found)
	}
}

// TestRetentionChain: when a retention ends, a listener runs a chain on the document, once, which may delete it then.
func TestRetentionChain(t *testing.T) {
	p := startServer(t, t.TempDir())
	for _, text := range [][2]string{
		{"Chain", "name: Records.Expire\ninput: document\nsteps:\n  - op: Context.SetVar\n    params: {name: gone, value: \"@{Document.name}\"}\n  - op: Document.Delete\n  - op: Document.Fetch\n    params: {value: /default-domain/workspaces}\n  - op: Document.Create\n    params: {type: Note, name: \"expired-@{gone}\"}\n"},
		{"Listener", "name: Expired\nevents: [retentionExpired]\nrun: Records.Expire\n"},
	} {
		p.want(t, http.StatusOK, "Administrator", "POST", "/api/v1/automation/"+text[0]+".Save", fmt.Sprintf(`{"params":{"source":%q}}`, text[1]))
	}
	for _, name := range []string{"short", "long"} {
		p.want(t, http.StatusCreated, "Administrator", "POST", spaces, fmt.Sprintf(`{"entity-type":"document","type":"File","name":%q}`, name))
		until := time.Now().Add(map[string]time.Duration{"short": 2 * time.Second, "long": time.Hour}[name]).UTC().Format(time.RFC3339Nano)
		p.want(t, http.StatusOK, "Administrator", "POST", "/api/v1/automation/Document.Retain", inputCall(fmt.Sprintf(`{"until":%q}`, until), "doc:/default-domain/workspaces/"+name))
		p.want(t, http.StatusForbidden, "Administrator", "DELETE", spaces+"/"+name, "")
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if status, _ := p.ask(t, "Administrator", "GET", spaces+"/expired-short", ""); status == http.StatusOK {
			break
		}
	}
	p.want(t, http.StatusNotFound, "Administrator", "GET", spaces+"/short", "")
	p.want(t, http.StatusOK, "Administrator", "GET", spaces+"/expired-short", "")
	time.Sleep(2 * expireEvery)
	p.want(t, http.StatusOK, "Administrator", "GET", spaces+"/long", "")
	p.want(t, http.StatusNotFound, "Administrator", "GET", spaces+"/expired-long", "")
}

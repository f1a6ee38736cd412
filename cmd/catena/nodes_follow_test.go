package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/storage/postgres/pgtest"
)

// contractType is a type that only one server declares.
const contractType = "types:\n  Contract:\n    parent: File\n    label: Contract\n"

// namesContract are texts that need it.
var namesContract = map[string]string{
	"Chain":    "name: Test.Sign\ninput: document\nsteps:\n  - op: Document.Create\n    params: {type: Contract, name: signed}\n",
	"Listener": "name: signed\nevents: [documentCreated]\ntypes: [Contract]\nrun: Document.Lock\n",
	"Schedule": "name: yearly\nas: Administrator\ninput: /\ncron: \"0 0 1 1 *\"\nrun: Document.Create\nparams: {type: Contract, name: a}\n",
	"Hook":     "name: arrived\nas: Administrator\ninput: /\nrun: Document.Create\nparams: {type: Contract, name: a}\n",
}

// TestNodesBehind saves texts of all kinds on a server that declares a type; one without it is not ready, says why, and is ready again
// once it has the type or the texts are gone.
func TestNodesBehind(t *testing.T) {
	store, content := pgtest.Database(t), t.TempDir()
	with, without := t.TempDir(), t.TempDir()
	declare := func(dir string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, "types"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "types", "contract.yaml"), []byte(contractType), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	declare(with)
	a := startServer(t, with, "--store", store, "--blobs", content)
	b := startServer(t, without, "--store", store, "--blobs", content)
	for kind, source := range namesContract {
		a.want(t, 200, "Administrator", "POST", "/api/v1/automation/"+kind+".Save", fmt.Sprintf(`{"params":{"source":%q}}`, source))
	}
	b.readiness(t, http.StatusServiceUnavailable, "chain Test.Sign version 1, hook arrived version 1, listener signed version 1, schedule yearly version 1")
	a.readiness(t, http.StatusOK, `"followStatus":"ok"`)
	a.readiness(t, http.StatusOK, `"deployedStatus":"ok"`)

	// A server that starts is not ready for a moment either.
	b.stop(t)
	b = startProcess(t, nil, without, "--store", store, "--blobs", content)
	b.readiness(t, http.StatusServiceUnavailable, "chain Test.Sign version 1")
	b.stop(t)
	declare(without)
	b = startServer(t, without, "--store", store, "--blobs", content)
	b.readiness(t, http.StatusOK, `"deployedStatus":"ok"`)

	for kind, source := range namesContract {
		name, _, _ := strings.Cut(strings.TrimPrefix(source, "name: "), "\n")
		b.want(t, 204, "Administrator", "POST", "/api/v1/automation/"+kind+".Delete", fmt.Sprintf(`{"params":{"name":%q}}`, name))
	}
	a.readiness(t, http.StatusOK, `"deployedStatus":"ok"`)
}

// readiness waits until /readyz has a status and its text contains what is wanted.
func (p *process) readiness(t *testing.T, status int, want string) {
	t.Helper()
	got, text := 0, ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(p.base + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got, text = resp.StatusCode, string(body); got == status && strings.Contains(text, want) {
			return
		}
	}
	t.Fatalf("status %d, want %d with %s: %s", got, status, want, text)
}

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

// TestNodesTypes declares a type and a vocabulary on one of two servers: the other one has documents and entries of them at once, texts that name it work on both,
// and a server with a file that cannot stand beside it does not start.
func TestNodesTypes(t *testing.T) {
	store, content := pgtest.Database(t), t.TempDir()
	data := t.TempDir()
	a := startServer(t, t.TempDir(), "--store", store, "--blobs", content)
	b := startServer(t, data, "--store", store, "--blobs", content)
	began := time.Now()
	a.want(t, 200, "Administrator", "POST", "/api/v1/automation/Type.Save", fmt.Sprintf(`{"params":{"name":"contract.yaml","source":%q}}`, contractType))
	b.want(t, 201, "Administrator", "POST", spaces, `{"entity-type":"document","type":"Contract","name":"lease"}`)
	b.want(t, 200, "Administrator", "GET", "/api/v1/config/types/Contract", "")
	if passed := time.Since(began); passed > time.Second {
		t.Logf("the other server had the type after %s", passed)
	}
	a.want(t, 200, "Administrator", "GET", spaces+"/lease", "")
	for kind, source := range namesContract {
		a.want(t, 200, "Administrator", "POST", "/api/v1/automation/"+kind+".Save", fmt.Sprintf(`{"params":{"source":%q}}`, source))
	}
	for _, p := range []*process{a, b} {
		p.readiness(t, http.StatusOK, `"followStatus":"ok"`)
		p.readiness(t, http.StatusOK, `"deployedStatus":"ok"`)
	}
	a.want(t, 400, "Administrator", "POST", "/api/v1/automation/Type.Delete", `{"params":{"name":"contract"}}`)
	a.want(t, 200, "Administrator", "POST", "/api/v1/automation/Vocabulary.Save", `{"params":{"name":"colors.yaml","source":"directories: {color: {schema: vocabulary, entries: {red: {en: Red}}}}"}}`)
	b.want(t, 201, "Administrator", "POST", "/api/v1/directory/color", `{"entity-type":"directoryEntry","directoryName":"color","properties":{"id":"blue","label":"Blue"}}`)
	a.want(t, 200, "Administrator", "GET", "/api/v1/directory/color/blue", "")

	b.stop(t)
	b = startServer(t, data, "--store", store, "--blobs", content)
	b.want(t, 200, "Administrator", "GET", spaces+"/lease", "")
	b.stop(t)
	if err := os.WriteFile(filepath.Join(data, "types", "clash.yaml"), []byte(contractType), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := line(t, "serve", "--store", store, "--data", data, "--blobs", content, "--addr", "127.0.0.1:0")
	if code == 0 || !strings.Contains(errs, "Contract: already declared at clash.yaml:2") {
		t.Errorf("%d %s", code, errs)
	}
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

// TestNodesTexts declares a page provider, a template, an action and a workflow on one of two servers: the other one has them within a second,
// runs the workflow, and keeps the first one from removing what it waits for; a server that starts has all of them.
func TestNodesTexts(t *testing.T) {
	store, content := pgtest.Database(t), t.TempDir()
	a := startServer(t, t.TempDir(), "--store", store, "--blobs", content)
	b := startServer(t, t.TempDir(), "--store", store, "--blobs", content)
	a.want(t, 201, "Administrator", "POST", spaces, `{"entity-type":"document","type":"Note","name":"a","properties":{"dc:title":"A"}}`)
	const input = `"input":"/default-domain/workspaces/a"`
	const flow = "workflows:\n  Ask:\n    nodes:\n      ask: {start: true, task: {assignees: [\"user:Administrator\"], buttons: {ok: {}}}, transitions: {on: {to: end}}}\n      end: {end: true}\n"
	saved := func(p *process, family, name, source string) {
		t.Helper()
		p.want(t, 200, "Administrator", "POST", "/api/v1/automation/"+family+".Save", fmt.Sprintf(`{"params":{"name":%q,"source":%q}}`, name, source))
	}
	// follows waits until a server answers a call as it is to.
	follows := func(p *process, op, body, want string) {
		t.Helper()
		began, text := time.Now(), ""
		for time.Since(began) < 5*time.Second {
			if _, text = p.ask(t, "Administrator", "POST", "/api/v1/automation/"+op, body); strings.Contains(text, want) {
				if passed := time.Since(began); passed > time.Second {
					t.Logf("%s: the other server followed after %s", op, passed)
				}
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%s: never %q, but %.300s", op, want, text)
	}
	const notes, letter = `{"params":{"providerName":"notes"}}`, `{"params":{"template":"template:letter"},` + input + `}`
	for _, round := range []struct{ from, sort, text string }{{"Note", "dc:title", "Dear"}, {"Folder", "dc:created", "Hello"}} {
		saved(a, "PageProvider", "notes.yaml", "providers:\n  notes: {from: "+round.from+", sort: ["+round.sort+"]}\n")
		saved(a, "Template", "letter.ftl", round.text+" ${Document.title}")
		follows(b, "Repository.ReadPageProvider", notes, round.sort)
		follows(b, "Render.Document", letter, round.text+" A")
		saved(a, "ActionDefinition", "sign.yaml", "actions:\n  sign: {categories: [SIGN], link: /"+round.from+"}\n")
		follows(b, "Actions.GET", `{"params":{"category":"SIGN"},`+input+`}`, "/"+round.from)
		a, b = b, a
	}
	saved(a, "WorkflowDefinition", "ask.yaml", flow)
	follows(b, "WorkflowModel.List", `{}`, `"Ask"`)
	b.want(t, 200, "Administrator", "POST", "/api/v1/automation/Context.StartWorkflow", `{"params":{"id":"Ask"},`+input+`}`)
	if text := a.want(t, 400, "Administrator", "POST", "/api/v1/automation/WorkflowDefinition.Delete", `{"params":{"name":"ask"}}`); !strings.Contains(text, "workflow Ask is removed, but runs") {
		t.Errorf("a workflow that runs: %s", text)
	}
	c := startServer(t, t.TempDir(), "--store", store, "--blobs", content)
	follows(c, "Render.Document", letter, "Hello A")
	follows(c, "WorkflowModel.List", `{}`, `"Ask"`)
	for _, p := range []*process{a, b, c} {
		p.readiness(t, http.StatusOK, `"followStatus":"ok"`)
		p.readiness(t, http.StatusOK, `"deployedStatus":"ok"`)
	}
}

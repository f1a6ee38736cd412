package main

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"catena/storage/postgres/pgtest"
)

// slowChain makes so many files in one transaction that a server is often killed before it is committed.
const slowChain = `name: Crash.Slow
input: void
params:
  - {name: name, type: string, required: true}
steps:
  - op: Repository.GetDocument
    params: {value: /default-domain/workspaces}
  - op: Document.Create
    params: {type: Folder, name: "@{name}"}
    as: folder
  - each: "1..400"
    steps:
      - op: Context.RestoreDocumentInput
        params: {name: folder}
      - op: Document.Create
        params: {type: File, name: "f@{item}"}
  - op: Context.RestoreDocumentInput
    params: {name: folder}
`

// beginRun starts an asynchronous run, and returns the path of its result.
func beginRun(t *testing.T, p *process, op, params string) string {
	t.Helper()
	resp, err := admin(t.Context(), http.MethodPost, p.base+"/api/v1/automation/"+op+"/@async", "application/json", strings.NewReader(params))
	if err != nil {
		t.Fatal(err)
	}
	if text := whole(t, resp); resp.StatusCode != http.StatusAccepted {
		t.Fatalf("%s: %s %s", op, resp.Status, text)
	}
	return strings.TrimSuffix(strings.TrimPrefix(resp.Header.Get("Location"), p.base), "/status")
}

// runEnds waits until a run has ended, for at most a minute, and returns its answer.
func runEnds(t *testing.T, p *process, at string) (status int, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if status, text = p.ask(t, "Administrator", "GET", at, ""); status != http.StatusAccepted {
			return status, text
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s has not ended: %d %s", at, status, text)
		}
	}
}

// agrees compares what a run says of itself with what it has done: all, or nothing.
func agrees(t *testing.T, p *process, at, name string) (lost bool) {
	t.Helper()
	status, text := runEnds(t, p, at)
	found, _ := p.ask(t, "Administrator", "GET", workspaces+name, "")
	switch {
	case status == http.StatusOK && found == http.StatusOK && strings.Contains(text, `"path":"/default-domain/workspaces/`+name+`"`):
		_, list := p.ask(t, "Administrator", "GET", "/api/v1/search/lang/NXQL/execute?pageSize=1&query=SELECT+*+FROM+File+WHERE+ecm:path+STARTSWITH+'/default-domain/workspaces/"+name+"'", "")
		var page struct{ ResultsCount int }
		if err := json.Unmarshal([]byte(list), &page); err != nil || page.ResultsCount != 400 {
			t.Errorf("%s: %d files of 400, %v", name, page.ResultsCount, err)
		}
		return false
	case status == http.StatusConflict && found == http.StatusNotFound && strings.Contains(text, `"code":"run_lost"`):
		return true
	}
	t.Errorf("the run %s answers %d %.1000s, and its folder %d", at, status, text, found)
	return false
}

// TestRunsCrash kills a server in the middle of asynchronous runs, and starts it again: each run has ended, and has done what it
// says. CATENA_KILLS sets how often.
func TestRunsCrash(t *testing.T) {
	kills := killCount(t, 3)
	data := t.TempDir()
	p := startServer(t, data)
	saveChain(t, p.base, slowChain)
	over := beginRun(t, p, "Crash.Slow", `{"params":{"name":"first"}}`)
	if agrees(t, p, over, "first") {
		t.Error("lost without a cause")
	}
	lost := 0
	for i := range kills {
		name := "run" + string(rune('a'+i))
		at := beginRun(t, p, "Crash.Slow", `{"params":{"name":"`+name+`"}}`)
		time.Sleep(time.Duration(rand.IntN(30*(i+1))) * time.Millisecond) // the first ones are killed early
		p.kill()
		p = startServer(t, data)
		for range 2 {
			if agrees(t, p, at, name) {
				lost++
			}
			agrees(t, p, over, "first")
		}
	}
	t.Logf("%d kills, %d runs lost", kills, lost/2)
	if lost == 0 {
		t.Log("no run was lost: the test did not test much")
	}
}

// TestRunsOfNodes begins asynchronous runs on one of two servers of a database and asks the other one, which answers when the first
// one is killed.
func TestRunsOfNodes(t *testing.T) {
	store, content := pgtest.Database(t), t.TempDir()
	a := startServer(t, t.TempDir(), "--store", store, "--blobs", content)
	b := startServer(t, t.TempDir(), "--store", store, "--blobs", content)
	saveChain(t, a.base, slowChain)
	awaitOp(t, b.base, "Crash.Slow")
	over := beginRun(t, a, "Crash.Slow", `{"params":{"name":"first"}}`)
	if agrees(t, b, over, "first") {
		t.Error("lost without a cause")
	}
	canceled := beginRun(t, a, "Crash.Slow", `{"params":{"name":"canceled"}}`)
	status, _ := b.ask(t, "Administrator", "DELETE", canceled, "")
	if found, _ := b.ask(t, "Administrator", "GET", canceled, ""); status != http.StatusNoContent || found != http.StatusNotFound {
		t.Errorf("canceled on the other node: %d, then %d", status, found)
	}
	at := beginRun(t, a, "Crash.Slow", `{"params":{"name":"second"}}`)
	a.kill()
	for range 2 {
		agrees(t, b, at, "second")
		agrees(t, b, over, "first")
	}
}

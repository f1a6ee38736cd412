package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A thousand runs that each make a note, wait, and mark it.
const manyWait = `name: Crash.Many
output: void
steps:
  - each: "1..1000"
    steps:
      - op: Repository.GetDocument
        params: {value: /}
      - op: Document.Create
        params: {type: Note, name: "run@{item}", properties: {"dc:title": "run"}}
      - op: Crash.Wait
`

const oneWaits = `name: Crash.Wait
input: document
steps:
  - wait: {until: "2026-01-01T00:00:00Z"}
  - op: Document.SetProperty
    params: {xpath: "dc:title", value: "@{Document.title}+"}
  - wait: 2s
  - op: Document.SetProperty
    params: {xpath: "dc:title", value: "@{Document.title}*"}
`

const madeOnce = `name: Crash.Made
variables: [Schedule]
steps:
  - op: Repository.GetDocument
    params: {value: /}
  - op: Document.Create
    params: {type: Note, name: "made-@{Schedule.name}"}
`

// runs carries out an operation as Administrator, on a document if one is named, and decodes what it returns.
func runs(t *testing.T, base, name string, params, into any, input ...string) {
	t.Helper()
	request := map[string]any{"params": params}
	if len(input) > 0 {
		request["input"] = input[0]
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	status, text := administer(t, http.MethodPost, base+"/api/v1/automation/"+name, "application/json", string(body))
	if status >= http.StatusBadRequest {
		t.Fatalf("%s: %d %s", name, status, text)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v: %.300s", name, err, text)
	}
}

// titles are those of the notes whose names begin with a text, by name.
func titles(t *testing.T, base, begin string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for page := 0; ; page++ {
		var answer struct {
			Entries []struct{ Path, Title string }
			Next    bool `json:"isNextPageAvailable"`
		}
		runs(t, base, "Repository.Query", map[string]any{
			"query": "SELECT * FROM Note WHERE ecm:isVersion = 0 AND ecm:name LIKE '" + begin + "%'", "pageSize": 1000, "currentPageIndex": page,
		}, &answer)
		for _, e := range answer.Entries {
			out[strings.TrimPrefix(e.Path, "/")] = e.Title
		}
		if !answer.Next {
			return out
		}
	}
}

// TestWaitingCrash kills the server while a thousand chains wait and go on, and while schedules are due: each chain goes on
// once, and each schedule runs once. CATENA_KILLS sets how often.
func TestWaitingCrash(t *testing.T) {
	kills, perRound := killCount(t, 2), 10
	data := t.TempDir()
	p := startServer(t, data, "--rate", "-1")
	for _, source := range []string{oneWaits, manyWait, madeOnce} {
		saveChain(t, p.base, source)
	}
	runs(t, p.base, "Crash.Many", map[string]any{}, nil)
	scheduled := 0
	for i := range kills {
		for n := range perRound {
			scheduled++
			at := time.Now().Add(time.Duration(100+rand.IntN(400)) * time.Millisecond).UTC().Format("2006-01-02T15:04:05.000Z")
			runs(t, p.base, "Schedule.Save", map[string]any{
				"source": fmt.Sprintf("name: S%03dx%d\nas: Administrator\nat: %s\nrun: Crash.Made\n", i, n, at),
			}, nil)
		}
		time.Sleep(time.Duration(20+rand.IntN(600)) * time.Millisecond)
		p.kill()
		http.DefaultClient.CloseIdleConnections()
		p = startServer(t, data, "--rate", "-1")
	}
	var waiting struct{ Value []map[string]any }
	made := map[string]string{}
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		runs(t, p.base, "Run.Waiting", map[string]any{"limit": 1000}, &waiting)
		if made = titles(t, p.base, "made-"); len(waiting.Value) == 0 && len(made) >= scheduled {
			break
		}
	}
	if len(waiting.Value) > 0 {
		t.Errorf("%d still wait, such as %v", len(waiting.Value), waiting.Value[0])
	}
	ran := titles(t, p.base, "run")
	if len(ran) != 1000 {
		t.Errorf("%d runs", len(ran))
	}
	for name, title := range ran {
		if title != "run+*" {
			t.Errorf("%s: title %q", name, title)
		}
	}
	if len(made) != scheduled {
		t.Errorf("%d schedules made %d documents", scheduled, len(made))
	}
	t.Logf("%d kills: 1000 chains went on, %d schedules ran, none twice", kills, scheduled)
}

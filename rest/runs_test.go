package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/decks"
	"catena/engine"
	"catena/ops/bulk"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/outbox"
)

// stuckOps are operations that go on until they are ended.
var stuckOps = append(slices.Clip(testOps),
	engine.Op{Name: "Test.Linger", Doc: "Makes a document and waits.", Callers: engine.Anyone, Run: engine.On(linger)},
	engine.Op{Name: "Test.Hang", Doc: "Waits with a document.", Callers: engine.Anyone, Run: engine.On(hang)},
	engine.Op{Name: "Test.Search", Doc: "Queries without end.", Effect: engine.Reads, Callers: engine.Anyone, Run: engine.On(searchOn)},
)

func linger(p text, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	root, err := c.Tx.Doc("/open")
	if err != nil {
		return engine.Void{}, err
	}
	if _, err := c.Tx.Create(root, "File", p.Value, nil); err != nil {
		return engine.Void{}, err
	}
	<-c.Done()
	return engine.Void{}, nil // what it returns is not asked: the call has ended
}

func hang(_ none, c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	<-c.Done()
	return d, c.Err()
}

func searchOn(_ none, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	for {
		if _, err := c.Call("Repository.Query", nil, map[string]any{"query": "SELECT * FROM Document"}); err != nil {
			return engine.Void{}, err
		}
	}
}

func startStuck(t *testing.T) *resttest.Server {
	t.Helper()
	s := resttest.Start(t, resttest.Config{Ops: slices.Concat(stuckOps, decks.Ops()), Deployed: deployed, Single: true, Repo: decks.Listen, Engine: func(c *engine.Config) { c.Limits.Ops = 1 << 40 }})
	s.User("alice")
	s.User("bob")
	err := s.Repo.Update(context.Background(), s.Repo.System(), func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		if err != nil {
			return err
		}
		d, err := tx.Create(root, "Folder", "open", nil)
		if err != nil {
			return err
		}
		_, err = tx.SetACL(d, "local", []storage.ACE{{User: "members", Permission: "Everything", Granted: true}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const runsAt = "/api/v1/automation/runs"

// answers compares the status of an answer, and looks for a text in it.
func answers(t *testing.T, a *resttest.Answer, status int, holds string) {
	t.Helper()
	if a.StatusCode != status || !strings.Contains(a.Text, holds) {
		t.Errorf("%s %s: %s %s\nwant %d %s", a.Request.Method, a.Request.URL.Path, a.Status, a.Text, status, holds)
	}
}

// runsOf lists the runs that somebody sees, besides the listing itself.
func runsOf(t *testing.T, s *resttest.Server, query string, as ...string) []map[string]any {
	t.Helper()
	a := s.Do("GET", runsAt+query, "", as...)
	if a.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", query, a.Status, a.Text)
	}
	var out []map[string]any
	for _, e := range a.JSON(t)["entries"].([]any) {
		out = append(out, e.(map[string]any))
	}
	return out
}

// runningRun waits until an operation runs and returns its run.
func runningRun(t *testing.T, s *resttest.Server, op string) map[string]any {
	t.Helper()
	for range 1000 {
		if list := runsOf(t, s, "?operation="+op); len(list) == 1 {
			return list[0]
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s does not run", op)
	return nil
}

// TestEndRun has calls that would not end seen and ended, by an administrator and by the caller.
func TestEndRun(t *testing.T) {
	s := startStuck(t)
	reader := bearer(s.Key("alice", "read_only"))
	for _, c := range []struct{ op, body, by string }{
		{"Test.Linger", `{"params":{"value":"one"}}`, "Administrator"},
		{"Test.Linger", `{"params":{"value":"two"}}`, "alice"},
		{"Test.Search", `{}`, "alice"},
		{"Test.Wait", `{"params":{"millis":600000}}`, "Administrator"},
	} {
		answer := make(chan *resttest.Answer)
		go func() {
			answer <- s.Do("POST", "/api/v1/automation/"+c.op, c.body, "as", "alice", "X-Request-Id", "req-1")
		}()
		run := runningRun(t, s, c.op)
		at := runsAt + "/" + run["id"].(string)
		if got, want := fmt.Sprint(run["state"], run["op"], run["user"], run["door"], run["repository"], run["requestId"]), fmt.Sprint("running", c.op, "alice", "rest", "default", "req-1"); got != want {
			t.Errorf("run %s, want %s", got, want)
		}
		if _, err := time.Parse(time.RFC3339, run["start"].(string)); err != nil {
			t.Error(err)
		}

		// To bob it does not exist, and a key that only reads ends nothing.
		for _, method := range []string{"GET", "DELETE"} {
			answers(t, s.Do(method, at, "", "as", "bob"), 404, "run "+run["id"].(string))
		}
		for _, seen := range runsOf(t, s, "", "as", "bob") {
			if seen["user"] != "bob" {
				t.Errorf("bob sees %v", seen)
			}
		}
		answers(t, s.Do("DELETE", at, "", reader...), 403, "read-only")
		answers(t, s.Do("GET", at, "", "as", "alice"), 200, `"op":"`+c.op+`"`)

		answers(t, s.Do("DELETE", at, "", "as", c.by), 204, "")
		a := <-answer
		answers(t, a, 409, "was canceled by "+c.by)
		if p := a.JSON(t); p["code"] != "run_ended" || p["retryable"] != false {
			t.Errorf("problem %v", p)
		}
		answers(t, s.Do("DELETE", at, "", "as", c.by), 404, "run ")
	}
	for _, name := range []string{"one", "two"} {
		answers(t, s.Do("GET", "/api/v1/path/open/"+name, ""), 404, "")
	}
	if list := runsOf(t, s, ""); len(list) != 0 {
		t.Errorf("still running: %v", list)
	}
}

// TestEndAsyncRun has an asynchronous run ended under the id that the client knows, by an administrator and
// by its own address.
func TestEndAsyncRun(t *testing.T) {
	s := startStuck(t)
	for _, aborts := range []bool{false, true} {
		begun := s.Do("POST", "/api/v1/automation/Test.Linger/@async", `{"params":{"value":"one"}}`, "as", "alice")
		answers(t, begun, 202, "")
		status := strings.TrimPrefix(begun.Header.Get("Location"), s.URL)
		own := strings.TrimSuffix(status, "/status")
		run := runningRun(t, s, "Test.Linger")
		id := run["id"].(string)
		if !strings.HasSuffix(own, "/"+id) {
			t.Errorf("the run %s is at %s", id, own)
		}
		answers(t, s.Do("DELETE", own, "", "as", "bob"), 404, "")
		if aborts {
			answers(t, s.Do("DELETE", own, "", "as", "alice"), 204, "")
			answers(t, s.Do("GET", status, "", "as", "alice"), 404, "")
		} else {
			answers(t, s.Do("DELETE", runsAt+"/"+id, ""), 204, "")
			answers(t, s.Do("GET", over(t, s, status, "as", "alice"), "", "as", "alice"), 409, "was canceled by Administrator")
		}
		answers(t, s.Do("GET", "/api/v1/path/open/one", ""), 404, "")
	}
}

// TestEndBulk ends the work of a bulk command, which has ended with that.
func TestEndBulk(t *testing.T) {
	s := startStuck(t)
	answers(t, s.Do("POST", "/api/v1/path/open", fmt.Sprintf(document, "one"), "as", "alice"), 201, "")
	begun := s.Do("POST", "/api/v1/search/bulk/automation?query=SELECT+*+FROM+File", `{"operationId":"Test.Hang"}`, "as", "alice")
	answers(t, begun, 202, "")
	command := field(t, begun.Text, "commandId")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- outbox.Run(ctx, s.Repo, outbox.Handlers{bulk.JobKind: {Do: bulk.Job(s.Engine)}})
	}()
	next := listen(t, s, "/api/v1/bulk/"+command+"/events", "as", "alice")
	for e, ok := next(); ok && e.data["state"] != "RUNNING"; e, ok = next() { //nolint:revive // its batch is what hangs
	}
	run := runningRun(t, s, "bulk+"+command)
	if run["user"] != "alice" || run["door"] != "server" {
		t.Errorf("run %v", run)
	}
	at := runsAt + "/" + run["id"].(string)
	answers(t, s.Do("DELETE", at, "", "as", "bob"), 404, "")
	answers(t, s.Do("DELETE", at, ""), 204, "")
	last, ok := next()
	if !ok || last.data["state"] != "ABORTED" || !strings.Contains(fmt.Sprint(last.data["errorMessage"]), "was canceled by Administrator") {
		t.Errorf("last event %+v", last)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestBrowserRuns ends a call on the console's page.
func TestBrowserRuns(t *testing.T) {
	s := startStuck(t)
	b := browse(t, s)
	b.signIn("alice")
	answer := make(chan *resttest.Answer)
	go func() { answer <- s.Do("POST", "/api/v1/automation/Test.Search", "{}", "as", "alice") }()
	runningRun(t, s, "Test.Search")
	b.open("/ui/runs")
	b.wait(`document.querySelector("#list [data-state=running] code")?.textContent === "Test.Search"`)
	b.shot("runs-running")
	b.click(`[aria-label="Cancel Test.Search"]`)
	answers(t, <-answer, 409, "was canceled by alice")
	b.wait(`document.querySelector("#list [data-state=stopped] .small")?.textContent.includes("was canceled by alice") || (document.querySelector("#find button").click(), false)`)

	// It is looked at, and run again, which is ended again.
	b.write("#find [name=operation]", "none")
	b.click("#find button")
	b.wait(`document.getElementById("list").textContent === "No runs."`)
	eval[bool](b, `(() => { const f = document.getElementById("find"); f.operation.value = "Test.Search"; f.hours.value = "1"; return true; })()`)
	b.click("#find button")
	b.click(`[aria-label="Show Test.Search, stopped"]`)
	b.wait(`document.activeElement.id === "one" && document.querySelector("#one .alert").textContent.includes("was canceled by alice")`)
	b.quiet()
	b.click("#again .primary")
	again := runningRun(t, s, "Test.Search")
	if first := runsOf(t, s, "?state=stopped", "as", "alice"); len(first) != 1 || again["repeats"] != first[0]["id"] {
		t.Errorf("%v repeats none of %v", again, first)
	}
	answers(t, s.Do("DELETE", runsAt+"/"+again["id"].(string), ""), 204, "")
	b.wait(`document.getElementById("message").textContent.includes("was canceled by Administrator")`)
}

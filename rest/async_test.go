package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/cluster"
)

// twoStuck are two servers on one store with operations that go on until they are ended.
func twoStuck(t *testing.T) (a, b *resttest.Server) {
	t.Helper()
	a = startStuck(t)
	return a, a.Beside(resttest.Config{Ops: stuckOps})
}

// beginOn starts a run on a server and returns its address.
func beginOn(t *testing.T, s *resttest.Server, op, body string, headers ...string) string {
	t.Helper()
	a := s.Do("POST", "/api/v1/automation/"+op+"/@async", body, headers...)
	answers(t, a, 202, "")
	return strings.TrimSuffix(strings.TrimPrefix(a.Header.Get("Location"), s.URL), "/status")
}

// await asks until a condition holds, for at most a minute.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %s", what)
		}
	}
}

// runEnded waits until a server answers that a run has ended.
func runEnded(t *testing.T, s *resttest.Server, at string, headers ...string) {
	t.Helper()
	await(t, "the end of "+at, func() bool { return s.Do("GET", at+"/status", "", headers...).StatusCode == http.StatusSeeOther })
}

// TestRunElsewhere begins runs on one server and asks for them on another one, as the one who began them, as somebody else
// and as an administrator.
func TestRunElsewhere(t *testing.T) {
	a, b := twoStuck(t)
	answers(t, a.Do("POST", "/api/v1/path/open", `{"entity-type":"document","type":"File","name":"f","properties":{"dc:title":"Found"}}`, "as", "alice"), 201, "")
	answers(t, a.Do("POST", "/api/v1/path/open", `{"entity-type":"document","type":"Note","name":"n","properties":{"note:note":"words"}}`, "as", "alice"), 201, "")
	for _, x := range []struct {
		op, body string
		headers  []string
		status   int
		holds    string
	}{
		{"Test.Wait", `{"params":{"millis":300}}`, nil, 200, `{"entity-type":"string","value":"done"}`},
		{"Repository.GetDocument", `{"params":{"value":"/open/f"}}`, []string{"X-NXproperties", "dublincore"}, 200, `"dc:title":"Found"`},
		{"Repository.GetDocument", `{"params":{"value":"/open/f"}}`, []string{"Idempotency-Key", "k1"}, 200, `"path":"/open/f"`},
		{"Repository.Query", `{"params":{"query":"SELECT * FROM File WHERE dc:title = 'Found'"}}`, nil, 200, `"entries":[{"entity-type":"document"`},
		{"Document.Create", `{"input":"/open","params":{"type":"File","name":"made"}}`, nil, 200, `"path":"/open/made"`},
		{"Document.Create", `{"input":"/open","params":{"type":"File","name":"keyed"}}`, []string{"Idempotency-Key", "k2"}, 200, `"path":"/open/keyed"`},
		{"Document.Create", `{"input":"/open","params":{"type":"File","name":"void"}}`, []string{"X-NXVoidOperation", "true"}, 204, ""},
		{"Log", `{"params":{"message":"m","level":"info"}}`, nil, 204, ""},
		{"Document.Create", `{"input":"/nowhere","params":{"type":"File","name":"no"}}`, nil, 404, `"message":"/nowhere"`},
		{"User.Get", `{"params":{"login":"alice"}}`, nil, 200, `alice`},
		{"Document.GetBlob", `{"input":"/open/n"}`, nil, 200, `words`},
		{"Document.GetBlobs", `{"input":"/open/n"}`, nil, 200, "filename=n.txt"},
	} {
		as := append([]string{"as", "alice"}, x.headers...)
		at := beginOn(t, a, x.op, x.body, as...)
		for _, s := range []*resttest.Server{b, a} {
			answers(t, s.Do("GET", at, "", "as", "bob"), 404, "")
			answers(t, s.Do("DELETE", at, "", "as", "bob"), 404, "")
			runEnded(t, s, at, "as", "alice")
			for range 2 {
				answers(t, s.Do("GET", at, "", "as", "alice"), x.status, x.holds)
			}
			answers(t, s.Do("GET", at, ""), x.status, x.holds)
		}
		answers(t, b.Do("DELETE", at, "", "as", "alice"), 204, "")
		answers(t, a.Do("GET", at, "", "as", "alice"), 404, "")
	}
	for _, name := range []string{"made", "keyed", "void"} {
		answers(t, b.Do("GET", "/api/v1/path/open/"+name, "", "as", "alice"), 200, "")
	}
}

// TestCancelElsewhere cancels runs on the server that does not carry them out: what they have written is undone.
func TestCancelElsewhere(t *testing.T) {
	a, b := twoStuck(t)
	reader := bearer(a.Key("alice", "read_only"))
	idle := func() bool {
		return !slices.ContainsFunc(runsOf(t, a, ""), func(r map[string]any) bool { return r["op"] == "Test.Linger" })
	}
	for _, forgets := range []bool{true, false} {
		at := beginOn(t, a, "Test.Linger", `{"params":{"value":"one"}}`, "as", "alice")
		run := runningRun(t, a, "Test.Linger")["id"].(string)
		answers(t, b.Do("GET", at, "", "as", "alice"), 202, "RUNNING")
		answers(t, b.Do("DELETE", at, "", reader...), 403, "read-only")
		answers(t, b.Do("DELETE", runsAt+"/"+run, "", reader...), 403, "read-only")
		answers(t, b.Do("DELETE", runsAt+"/"+run, "", "as", "bob"), 404, "")
		if forgets {
			answers(t, b.Do("DELETE", at, "", "as", "alice"), 204, "")
			answers(t, a.Do("GET", at, "", "as", "alice"), 404, "")
		} else {
			answers(t, b.Do("DELETE", runsAt+"/"+run, ""), 204, "")
			runEnded(t, b, at, "as", "alice")
			answers(t, b.Do("GET", at, "", "as", "alice"), 409, "was canceled by Administrator")
			answers(t, b.Do("DELETE", runsAt+"/"+run, ""), 404, "")
		}
		await(t, "the run to end", idle)
		answers(t, a.Do("GET", "/api/v1/path/open/one", ""), 404, "")
	}
}

// TestRunLost has the server of a run be lost and come back: the run was lost for everybody, and what it does afterwards is
// undone.
func TestRunLost(t *testing.T) {
	a, b := twoStuck(t)
	at := beginOn(t, a, "Test.Linger", `{"params":{"value":"one"}}`, "as", "alice")
	await(t, "the loss of the server", func() bool {
		if err := cluster.EndLeases(t.Context(), a.Repo); err != nil { // the server takes it again soon
			t.Fatal(err)
		}
		return b.Do("GET", at+"/status", "", "as", "alice").StatusCode == http.StatusSeeOther
	})
	for _, s := range []*resttest.Server{a, b} {
		got := s.Do("GET", at, "", "as", "alice")
		answers(t, got, 409, "the server that carried it out has stopped")
		if p := got.JSON(t); p["code"] != "run_lost" || p["retryable"] != false || !strings.HasSuffix(p["type"].(string), "#run_lost") {
			t.Errorf("problem %v", p)
		}
	}
	next := listen(t, b, at+"/events", "as", "alice")
	if e, ok := next(); !ok || e.data["state"] != "failed" || e.data["code"] != "run_lost" {
		t.Errorf("event %+v %t", e, ok)
	}
	await(t, "its server to notice", func() bool {
		return !slices.ContainsFunc(runsOf(t, a, ""), func(r map[string]any) bool { return r["op"] == "Test.Linger" })
	})
	answers(t, b.Do("GET", "/api/v1/path/open/one", ""), 404, "")
}

// TestServerStops has a server stop in good order: its runs are lost at once, and those that have ended are answered by
// another one.
func TestServerStops(t *testing.T) {
	b := startStuck(t)
	var stop func()
	t.Run("a server", func(t *testing.T) {
		a := b.Beside(resttest.Config{Ops: stuckOps})
		stop = a.Config.Handler.(interface{ Close() }).Close
		over := beginOn(t, a, "Test.Echo", `{"params":{"value":"kept"}}`, "as", "alice")
		runEnded(t, a, over, "as", "alice")
		at := beginOn(t, a, "Test.Linger", `{"params":{"value":"one"}}`, "as", "alice")
		runningRun(t, a, "Test.Linger")
		stop()
		runEnded(t, b, at, "as", "alice")
		answers(t, b.Do("GET", at, "", "as", "alice"), 409, "run_lost")
		answers(t, b.Do("GET", over, "", "as", "alice"), 200, "kept")
	})
	answers(t, b.Do("GET", "/api/v1/path/open/one", ""), 404, "")
}

// TestEndsOnce has a run that writes declared lost while it is about to commit: it has happened if and only if it is
// answered so.
func TestEndsOnce(t *testing.T) {
	gate, entered := make(chan struct{}), make(chan struct{}, 10)
	op := engine.Op{Name: "Test.Gate", Doc: "Makes a document once it is let through.", Callers: engine.Anyone, Run: engine.On(func(p text, c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
		root, err := c.Tx.Doc("/open")
		if err != nil {
			return nil, err
		}
		entered <- struct{}{}
		select {
		case <-gate:
		case <-c.Done():
		}
		return c.Tx.Create(root, "File", p.Value, nil)
	})}
	a := resttest.Start(t, resttest.Config{Ops: append(slices.Clip(testOps), op), Single: true})
	root := a.Do("POST", "/api/v1/path/", `{"entity-type":"document","type":"Folder","name":"open"}`)
	answers(t, root, 201, "")
	b := a.Beside(resttest.Config{Ops: append(slices.Clip(testOps), op)})
	at := beginOn(t, a, "Test.Gate", `{"params":{"value":"one"}}`)
	<-entered
	await(t, "the loss of the server", func() bool {
		if err := cluster.EndLeases(t.Context(), a.Repo); err != nil {
			t.Fatal(err)
		}
		return b.Do("GET", at+"/status", "").StatusCode == http.StatusSeeOther
	})
	close(gate)
	await(t, "the run to end", func() bool {
		return !slices.ContainsFunc(runsOf(t, a, ""), func(r map[string]any) bool { return r["op"] == "Test.Gate" })
	})
	answers(t, b.Do("GET", at, ""), 409, "run_lost")
	answers(t, b.Do("GET", "/api/v1/path/open/one", ""), 404, "")
}

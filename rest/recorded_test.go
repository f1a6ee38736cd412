package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/engine"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/history"
	"catena/storage/kv"
	"catena/storage/memory"
)

// recording starts one server, whose runs are on others once they are written, with a chain that returns a title, or fails without one.
func recording(t *testing.T, change func(*engine.Limits)) *resttest.Server {
	t.Helper()
	s := resttest.Start(t, resttest.Config{Ops: testOps, Deployed: deployed, Single: true, Engine: func(c *engine.Config) {
		if change != nil {
			change(&c.Limits)
		}
	}})
	s.User("alice")
	s.User("bob")
	source, err := json.Marshal(`name: Test.Title
output: string
params: [{name: title, required: true}, {name: phrase, secret: true}]
steps:
  - op: Test.Echo
    params: {value: "@{title}"}
  - op: Test.Echo
    params: {value: "@{phrase}"}
    when: "@{phrase == 'sesame'}"
`)
	if err != nil {
		t.Fatal(err)
	}
	answers(t, s.Do("POST", "/api/v1/automation/Chain.Save", fmt.Sprintf(`{"params":{"source":%s}}`, source)), 200, "Test.Title")
	return s
}

const titleAt = "/api/v1/automation/Test.Title"

// written has what waits to be recorded be written.
func written(t *testing.T, s *resttest.Server) {
	t.Helper()
	writtenBeside(t, s, nil)
}

// writtenBeside does so beside servers that are of the same version, or not.
func writtenBeside(t *testing.T, s *resttest.Server, oneVersion func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Engine.RecordRuns(ctx, oneVersion); err != nil {
		t.Fatal(err)
	}
}

// TestRecordedRuns runs a chain and looks at its run as its owner, as an administrator and as somebody else, before and
// after it is written, also in the form that servers of another version read.
func TestRecordedRuns(t *testing.T) {
	t.Run("alone", func(t *testing.T) { testRecordedRuns(t, nil) })
	t.Run("beside another version", func(t *testing.T) { testRecordedRuns(t, func(context.Context) bool { return false }) })
}

func testRecordedRuns(t *testing.T, oneVersion func(context.Context) bool) {
	s := recording(t, nil)
	answers(t, s.Do("POST", titleAt, `{"params":{"title":"One"},"context":{"more":"x"}}`, "as", "alice", "X-Request-Id", "req-1"), 200, "One")
	answers(t, s.Do("POST", titleAt, `{"params":{"title":"Two","phrase":"sesame"}}`, "as", "alice"), 200, "sesame")
	look := func() {
		t.Helper()
		list := runsOf(t, s, "?state=done", "as", "alice")
		if len(list) != 2 {
			t.Fatalf("alice sees %v", list)
		}
		r := list[1]
		if got, want := fmt.Sprint(r["state"], r["op"], r["version"], r["user"], r["door"], r["requestId"], r["code"]), fmt.Sprint("done", "Test.Title", 1, "alice", "rest", "req-1", nil); got != want {
			t.Errorf("run %s, want %s", got, want)
		}
		at := runsAt + "/" + r["id"].(string)
		answers(t, s.Do("GET", at, "", "as", "bob"), 404, "run ")
		answers(t, s.Do("GET", at, "", "as", ""), 401, "")
		answers(t, s.Do("GET", at, ""), 200, "One")
		whole := s.Do("GET", at, "", "as", "alice").JSON(t)
		trace := whole["trace"].(map[string]any)
		step := trace["steps"].([]any)[0].(map[string]any)
		if got, want := strings.TrimSpace(fmt.Sprintln(whole["params"], whole["context"], trace["output"], step["op"], step["line"], step["params"], step["output"])), "map[title:One] map[more:x] One Test.Echo 5 map[value:One] One"; got != want {
			t.Errorf("details %s, want %s", got, want)
		}
		if got := s.Do("GET", runsAt+"/"+list[0]["id"].(string), "").Text; strings.Contains(got, "sesame") || !strings.Contains(got, `"left":["params/phrase"]`) {
			t.Errorf("a secret: %s", got)
		}
		if got := runsOf(t, s, "?state=done", "as", "bob"); len(got) != 0 {
			t.Errorf("bob sees %v", got)
		}
		if got := runsOf(t, s, "?state=done&user=alice&operation=Test.Title&limit=1"); len(got) != 1 || got[0]["id"] != list[0]["id"] {
			t.Errorf("filtered %v", got)
		}
	}
	look()
	writtenBeside(t, s, oneVersion)
	look()
	if got := s.Engine.RunCounts(); got.Written < 2 || got.Dropped != 0 {
		t.Errorf("counts %+v", got)
	}
}

// TestUnrecordedRuns makes calls of which nothing is recorded, and calls that are because nobody waits for them.
func TestUnrecordedRuns(t *testing.T) {
	s := recording(t, nil)
	title := `{"params":{"title":"One"}}`
	for _, c := range []struct {
		at, body string
		headers  []string
		want     int
	}{
		{titleAt + "?dryRun=true", title, nil, 0},
		{titleAt, title, bearer(s.Key("alice", "read_only")), 0},
		{"/api/v1/automation/Test.Echo", `{"params":{"value":"x"}}`, nil, 0},
		{titleAt, `{"params":{}}`, nil, 0}, // it fails, and is kept as such
		{titleAt, title, nil, 1},
		{titleAt, title, []string{"Prefer", "respond-async"}, 2},
		{"/api/v1/automation/Test.Echo", `{"params":{"value":"x"}}`, []string{"Prefer", "respond-async"}, 3},
	} {
		a := s.Do("POST", c.at, c.body, c.headers...)
		if a.StatusCode >= http.StatusInternalServerError {
			t.Fatal(a.Text)
		}
		for range 1000 { // until those in the background have ended
			if len(runsOf(t, s, "")) == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if got := len(runsOf(t, s, "?state=done")); got != c.want {
			t.Errorf("%s %v: %s: %d runs are recorded, want %d", c.at, c.headers, a.Status, got, c.want)
		}
	}
}

// TestRecordingBounds makes more runs than are recorded.
func TestRecordingBounds(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*engine.Limits)
		runs    int
		dropped int64
		beyond  int64
	}{
		{"rate", func(l *engine.Limits) { l.RunRate = 4 }, 4, 0, 6},
		{"queue", func(l *engine.Limits) { l.RunQueue = 3 }, 3, 7, 0},
		{"sample", func(l *engine.Limits) { l.RunSample = 2 }, 5, 0, 0},
		{"none", func(l *engine.Limits) { l.RunSample = -1 }, 0, 0, 0},
		{"calls", func(l *engine.Limits) { l.CallSample = 1 }, 11, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := recording(t, c.change)
			for range 10 {
				answers(t, s.Do("POST", titleAt, `{"params":{"title":"One"}}`, "as", "alice"), 200, "One")
			}
			answers(t, s.Do("POST", "/api/v1/automation/Test.Echo", `{"params":{"value":"x"}}`, "as", "alice"), 200, "x")
			for range 2 {
				if got := runsOf(t, s, "?state=done&user=alice"); len(got) != c.runs {
					t.Errorf("%d runs, want %d", len(got), c.runs)
				}
				if got := s.Engine.RunCounts(); got.Dropped != c.dropped || got.Beyond != c.beyond {
					t.Errorf("counts %+v", got)
				}
				written(t, s)
			}
		})
	}
}

// TestRetryRecorded makes runs again with the same and with other values.
func TestRetryRecorded(t *testing.T) {
	s := recording(t, nil)
	answers(t, s.Do("POST", titleAt, `{"params":{"title":"One"}}`, "as", "alice"), 200, "One")
	answers(t, s.Do("POST", titleAt, `{"params":{"title":"Two","phrase":"sesame"}}`, "as", "alice"), 200, "sesame")
	list := ids(runsOf(t, s, "?state=done", "as", "alice"))
	plain, secret := runsAt+"/"+list[1]+"/retry", runsAt+"/"+list[0]+"/retry"
	for _, c := range []struct {
		at, body string
		status   int
		holds    string
	}{
		{plain, "", 200, "One"},
		{plain, `{"params":{"title":"Three"}}`, 200, "Three"},
		{plain, `{"params":[]}`, 400, "params must be an object"},
		{plain, `{"param":{}}`, 400, `has no member`},
		{plain, `{`, 400, ""},
		{secret, "", 409, "params/phrase was not stored"},
		{secret, `{"context":{}}`, 409, "params/phrase was not stored"},
		{secret, `{"params":{"title":"Four","phrase":"sesame"}}`, 200, "sesame"},
	} {
		answers(t, s.Do("POST", c.at, c.body, "as", "alice"), c.status, c.holds)
	}
	answers(t, s.Do("POST", plain, "", "as", "bob"), 404, "run ")
	for _, r := range runsOf(t, s, "?state=done&limit=3", "as", "alice") {
		if r["repeats"] != list[0] && r["repeats"] != list[1] {
			t.Errorf("run %v", r)
		}
	}
}

// refusing is a store that may be out of reach for what is written.
type refusing struct {
	kv.Store
	broken  atomic.Bool
	refused atomic.Int32
}

func (s *refusing) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	snap, err := s.Store.Begin(ctx, write)
	return refusingSnapshot{snap, s}, err
}

type refusingSnapshot struct {
	kv.Snapshot
	s *refusing
}

func (n refusingSnapshot) Commit(ctx context.Context, b *kv.Batch) error {
	if n.s.broken.Load() && len(b.Writes) > 0 {
		n.s.refused.Add(1)
		return fault.Unavailable.Errorf("store: no answer")
	}
	return n.Snapshot.Commit(ctx, b)
}

// TestRunsOfAnOutage: calls that fail or are recorded while the store cannot be written to are listed at once, and written later.
func TestRunsOfAnOutage(t *testing.T) {
	store := &refusing{Store: memory.New()}
	s := resttest.Start(t, resttest.Config{
		Ops: testOps, Single: true, Engine: func(c *engine.Config) { c.Limits.CallSample = 1 },
		Storage: func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) },
	})
	const fails, goes = "/api/v1/automation/Test.Fail", "/api/v1/automation/Test.Echo"
	answers(t, s.Do("POST", goes, `{"params":{"value":"first"}}`), 200, "first")
	written(t, s)
	s.User("alice")
	store.broken.Store(true)
	answers(t, s.Do("POST", goes, `{"params":{"value":"before"}}`), 200, "before")
	answers(t, s.Do("POST", fails, `{"params":{"kind":"internal"}}`, "as", "alice"), 500, "")
	answers(t, s.Do("POST", fails, `{"params":{"kind":"limit"}}`), 422, "")
	answers(t, s.Do("POST", goes, `{"params":{"value":"after"}}`), 200, "after")
	for _, broken := range []bool{true, false} {
		store.broken.Store(broken)
		written(t, s)
		if a, b := runsOf(t, s, "?state=failed"), runsOf(t, s, "?state=done&operation=Test.Echo"); len(a) != 2 || len(b) != 3 {
			t.Errorf("broken %t: %d runs that failed, %d that went well", broken, len(a), len(b))
		}
		// What the server's own faults say is for administrators alone, also before it is written.
		theirs := runsOf(t, s, "?state=failed", "as", "alice")
		if len(theirs) != 1 || theirs[0]["error"] != "the server failed" {
			t.Errorf("broken %t: alice sees %v", broken, theirs)
			continue
		}
		at := "/api/v1/automation/runs/" + theirs[0]["id"].(string)
		if own, all := s.Do("GET", at, "", "as", "alice").JSON(t), s.Do("GET", at, "").JSON(t); own["error"] != "the server failed" || own["trace"] != nil || all["error"] == own["error"] || all["trace"] == nil {
			t.Errorf("broken %t: alice sees %v, administrators %v", broken, own, all)
		}
		var kept []history.Run
		if err := s.Repo.View(t.Context(), s.Repo.System(), func(tx *storage.Tx) (err error) {
			kept, _, err = history.List(tx, &history.Filter{Limit: 10})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 1, false: 5}[broken]; len(kept) != want {
			t.Errorf("broken %t: %d runs are kept, want %d", broken, len(kept), want)
		}
	}
	if got := s.Engine.RunCounts(); got.Dropped != 0 {
		t.Errorf("counts %+v", got)
	}
}

// TestRunsDoNotHurryAnOutage: calls that come while the store cannot be written to do not have it tried for each of them, so that what
// waits is not given up sooner.
func TestRunsDoNotHurryAnOutage(t *testing.T) {
	store := &refusing{Store: memory.New()}
	s := resttest.Start(t, resttest.Config{
		Ops: testOps, Single: true, Engine: func(c *engine.Config) { c.Limits.CallSample = 1 },
		Storage: func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Engine.RecordRuns(ctx, nil) }()
	store.broken.Store(true)
	for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(20 * time.Millisecond) {
		answers(t, s.Do("POST", "/api/v1/automation/Test.Echo", `{"params":{"value":"x"}}`), 200, "x")
	}
	if n := store.refused.Load(); n < 1 || n > 2 {
		t.Errorf("%d tries within two seconds", n)
	}
	store.broken.Store(false)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := s.Engine.RunCounts(); got.Dropped != 0 || got.Written == 0 {
		t.Errorf("counts %+v", got)
	}
}

package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/engine"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/history"
)

// failing starts a server with an operation that fails while broken is set.
func failing(t *testing.T, broken *atomic.Bool, change func(*engine.Limits), clock func() time.Time) *resttest.Server {
	t.Helper()
	who := func(p text, c *engine.Ctx, in *storage.Doc) (string, error) {
		if broken.Load() {
			return "", fault.Conflict.Errorf("it is broken")
		}
		name, _ := c.Vars["more"].(string)
		return c.As.Name + " " + p.Value + " " + in.Path() + " " + name + " " + c.Engine().Repo().Name(), nil
	}
	ops := append(testOps[:len(testOps):len(testOps)], engine.Op{Name: "Test.Who", Doc: "Says who.", Effect: engine.Reads, Callers: engine.Anyone, Run: engine.On(who)},
		engine.Op{Name: "Test.Phrase", Doc: "Refuses a phrase.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(phraseParams.run)})
	s := resttest.Start(t, resttest.Config{
		Ops: ops, Siblings: []string{"beside"}, Single: true, // identifiers of runs are in the order of time on one server only
		Engine: func(c *engine.Config) {
			if change != nil {
				change(&c.Limits)
			}
		},
		Storage: func(c *storage.Config) { c.Clock = clock },
	})
	s.User("alice")
	s.User("bob")
	return s
}

type phraseParams struct {
	Phrase string `json:"phrase,omitzero" secret:"true" doc:"A secret."`
	Key    string `json:"keyWord,omitzero" doc:"None."`
}

func (p phraseParams) run(_ *engine.Ctx, _ engine.Void) (string, error) {
	return "", fault.Limit.Errorf("phrase %s and key %s are no more", p.Phrase, p.Key)
}

func failed(t *testing.T, s *resttest.Server, query string, as ...string) []map[string]any {
	t.Helper()
	return runsOf(t, s, "?state=failed&"+query, as...)
}

func ids(list []map[string]any) (out []string) {
	for _, r := range list {
		out = append(out, r["id"].(string))
	}
	return out
}

// TestFailedRuns looks at a failed run as its owner, as an administrator and as somebody else, and chooses by all
// there is to choose by.
func TestFailedRuns(t *testing.T) {
	broken := &atomic.Bool{}
	broken.Store(true)
	s := failing(t, broken, nil, nil)
	at := "/api/v1/automation/Test.Who"
	answers(t, s.Do("POST", at, `{"input":"/","params":{"value":"x"},"context":{"more":"var"}}`, "as", "alice", "X-Request-Id", "req-7"), 409, "it is broken")
	answers(t, s.Do("POST", "/api/v1/path/default-domain/@op/Test.Who", `{"params":{"value":"y"}}`), 409, "it is broken")
	answers(t, s.Do("POST", "/api/v1/automation/Test.Fail", `{"params":{"kind":"limit","code":"depth"}}`, "as", "bob"), 422, "")

	own := failed(t, s, "", "as", "alice")
	if len(own) != 1 {
		t.Fatalf("alice sees %v", own)
	}
	r := own[0]
	if got, want := fmt.Sprint(r["state"], r["op"], r["user"], r["userId"] != nil, r["door"], r["repository"], r["requestId"], r["code"], r["error"]),
		fmt.Sprint("failed", "Test.Who", "alice", true, "rest", "default", "req-7", "conflict", "Test.Who: it is broken"); got != want {
		t.Errorf("run %s\nwant %s", got, want)
	}
	one := runsAt + "/" + r["id"].(string)
	whole := s.Do("GET", one, "", "as", "alice").JSON(t)
	if got := fmt.Sprint(whole["input"], whole["params"], whole["context"], whole["left"], whole["trace"].(map[string]any)["op"]); got != "/map[value:x] map[more:var] <nil>Test.Who" {
		t.Errorf("details %s", got)
	}
	for _, c := range []struct{ method, at string }{{"GET", one}, {"DELETE", one}, {"POST", one + "/retry"}} {
		answers(t, s.Do(c.method, c.at, "", "as", "bob"), 404, "run ")
		answers(t, s.Do(c.method, c.at, "", "as", ""), 401, "")
	}
	answers(t, s.Do("GET", one, ""), 200, "it is broken")

	all := ids(failed(t, s, ""))
	if len(all) != 3 {
		t.Fatalf("all: %v", all)
	}
	if whole := s.Do("GET", runsAt+"/"+all[1], "").JSON(t); !strings.HasPrefix(whole["input"].(string), "doc:") {
		t.Errorf("input by the address: %v", whole["input"])
	}
	later := url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339))
	for query, want := range map[string]string{
		"limit=2": fmt.Sprint(all[:2]), "before=" + all[1]: fmt.Sprint(all[2:]), "operation=Test.Who": fmt.Sprint(all[1:]), "user=bob": fmt.Sprint(all[:1]),
		"code=depth": fmt.Sprint(all[:1]), "requestId=req-7": fmt.Sprint(all[2:]), "since=" + later: "[]", "user=bob&code=conflict": "[]",
	} {
		if got := fmt.Sprint(ids(failed(t, s, query))); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if a := s.Do("GET", runsAt+"?state=failed&limit=2", "").JSON(t); a["before"] != all[1] {
		t.Errorf("more before %v", a["before"])
	}
	for _, bad := range []string{"state=over", "state=failed&limit=0", "state=failed&since=yesterday"} {
		answers(t, s.Do("GET", runsAt+"?"+bad, ""), 400, "must be")
	}
}

// TestNoFailedRuns makes calls of which nothing is kept.
func TestNoFailedRuns(t *testing.T) {
	broken := &atomic.Bool{}
	s := failing(t, broken, nil, nil)
	fails := `{"input":"/","params":{"value":"x"}}`
	for _, c := range []struct {
		at, body string
		status   int
		as       []string
	}{
		{"Test.Who", fails, 200, nil},
		{"Test.None", fails, 404, nil},
		{"Test.Who", `{"input":"/none","params":{"value":"x"}}`, 404, nil},
		{"Test.Fail", `{"params":{"kind":"denied"}}`, 403, nil},
		{"Job.List", `{}`, 404, []string{"as", "alice"}},
		{"Test.Fail?dryRun=true", `{"params":{"kind":"limit"}}`, 422, nil},
		{"Test.Fail", `{"params":{"kind":"limit"}}`, 422, bearer(s.Key("alice", "read_only"))},
	} {
		answers(t, s.Do("POST", "/api/v1/automation/"+c.at, c.body, c.as...), c.status, "")
	}
	answers(t, s.Do("GET", "/api/v1/path/none", ""), 404, "")
	if list := failed(t, s, ""); len(list) != 0 {
		t.Errorf("kept: %v", list)
	}
}

// TestFailedRunKeepsNoSecrets looks for what must not be kept, and has such runs not made again.
func TestFailedRunKeepsNoSecrets(t *testing.T) {
	s := failing(t, &atomic.Bool{}, nil, nil)
	for _, c := range []struct{ body, left string }{
		{`{"params":{"kind":"limit","newPassword":"canary"}}`, "[params/newPassword]"},
		{`{"params":{"kind":"limit","parameters":"{\"a\":{\"userPwd\":\"canary\"}}","plain":"{\"a\":1}"}}`, "[params/parameters]"},
		{`{"params":{"kind":"limit","list":[{"apiKey":"canary"}]},"context":{"token":"canary"}}`, "[params/list/apiKey context/token]"},
		{`{"params":{"kind":"limit","big":"` + strings.Repeat("canary", 4000) + `"}}`, "[params]"},
	} {
		answers(t, s.Do("POST", "/api/v1/automation/Test.Fail", c.body, "as", "alice"), 422, "")
		at := runsAt + "/" + failed(t, s, "limit=1", "as", "alice")[0]["id"].(string)
		a := s.Do("GET", at, "", "as", "alice")
		if got := fmt.Sprint(a.JSON(t)["left"]); got != c.left || strings.Contains(a.Text, "canary") {
			t.Errorf("left %s, want %s: %s", got, c.left, a.Text)
		}
		again := s.Do("POST", at+"/retry", "", "as", "alice")
		answers(t, again, 409, strings.Trim(c.left, "[]")[:6])
		if p := again.JSON(t); p["code"] != "run_incomplete" || p["retryable"] != false {
			t.Errorf("problem %v", p)
		}
	}
	at := "/api/v1/automation/Test.Phrase"
	answers(t, s.Do("POST", at, `{"params":{"keyWord":"b","phrase":"canary"},"context":{"phrase":"bird"}}`, "as", "alice"), 422, "phrase canary and key b")
	answers(t, s.Do("POST", at, `{"params":{"keyWord":"b"}}`, "as", "alice"), 422, "")
	two := failed(t, s, "limit=2", "as", "alice")
	whole := s.Do("GET", runsAt+"/"+two[1]["id"].(string), "", "as", "alice")
	if got := fmt.Sprint(whole.JSON(t)["left"], whole.JSON(t)["params"], whole.JSON(t)["error"]); strings.Contains(whole.Text, "canary") || strings.Contains(whole.Text, "bird") ||
		got != "[params/phrase context/phrase] map[keyWord:b]Test.Phrase: phrase *** and key b are no more" {
		t.Errorf("a declared secret: %s", whole.Text)
	}
	answers(t, s.Do("POST", runsAt+"/"+two[0]["id"].(string)+"/retry", "", "as", "alice"), 422, "phrase  and key b")
	for n, left := range map[int]string{16 << 10: "<nil>", 16<<10 + 1: "[params]"} {
		params := `{"kind":"limit","big":""}`
		params = params[:len(params)-2] + strings.Repeat("x", n-len(params)) + `"}`
		answers(t, s.Do("POST", "/api/v1/automation/Test.Fail", `{"params":`+params+`}`, "as", "alice"), 422, "")
		whole := s.Do("GET", runsAt+"/"+failed(t, s, "limit=1", "as", "alice")[0]["id"].(string), "").JSON(t)
		if got := fmt.Sprint(whole["left"]); got != left || (whole["params"] == nil) == (left == "<nil>") {
			t.Errorf("%d bytes of parameters: left %s, want %s", n, got, left)
		}
	}
	file := "--x\r\nContent-Disposition: form-data; name=request\r\nContent-Type: application/json\r\n\r\n{\"params\":{\"kind\":\"limit\"}}\r\n" +
		"--x\r\nContent-Disposition: form-data; name=input; filename=a.txt\r\n\r\ncanary\r\n--x--\r\n"
	s.Do("POST", "/api/v1/automation/Test.Fail", file, "as", "bob", "Content-Type", "multipart/form-data; boundary=x")
	for _, r := range failed(t, s, "", "as", "bob") {
		a := s.Do("GET", runsAt+"/"+r["id"].(string), "")
		if got := fmt.Sprint(a.JSON(t)["left"]); got != "[input]" || strings.Contains(a.Text, "canary") {
			t.Errorf("a file: %s", a.Text)
		}
	}
}

// TestFailedRunBounds makes more failed runs than are kept: of one user, of all, in a minute, and for longer.
func TestFailedRunBounds(t *testing.T) {
	var skip atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(skip.Load())) }
	s := failing(t, &atomic.Bool{}, func(l *engine.Limits) { l.Failed, l.UserFailed, l.FailedRate = 4, 3, 5 }, clock)
	fail := func(user string, n int) {
		for range n {
			answers(t, s.Do("POST", "/api/v1/automation/Test.Fail", `{"params":{"kind":"limit"}}`, "as", user), 422, "")
		}
	}
	fail("alice", 3)
	three := ids(failed(t, s, ""))
	if len(three) != 3 {
		t.Fatalf("kept %v", three)
	}
	fail("alice", 1)
	if got := ids(failed(t, s, "")); len(got) != 3 || got[1] != three[0] || got[2] != three[1] {
		t.Errorf("one more of alice's than are kept: %v after %v", got, three)
	}
	fail("bob", 1)
	fail("bob", 1)
	if a, b := len(failed(t, s, "user=alice")), len(failed(t, s, "user=bob")); a != 2 || b != 2 {
		t.Errorf("one more than are kept of all: %d of alice's, %d of bob's", a, b)
	}
	fail("bob", 3)
	before := ids(failed(t, s, ""))
	fail("bob", 1)
	if got := ids(failed(t, s, "")); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("one more of bob's in a minute than are kept: %v after %v", got, before)
	}
	sweep := func() int {
		if err := history.Sweep(t.Context(), s.Repo, history.Limits{All: 1000, User: 1000}); err != nil {
			t.Fatal(err)
		}
		return len(failed(t, s, ""))
	}
	skip.Store(int64(7*24*time.Hour - time.Minute))
	if n := sweep(); n != len(before) {
		t.Errorf("%d are left before 7 days", n)
	}
	skip.Store(int64(7*24*time.Hour + time.Minute))
	if n := sweep(); n != 0 {
		t.Errorf("%d are left after 7 days", n)
	}
	skip.Store(0)
	if n := len(failed(t, s, "")); n != 0 {
		t.Errorf("%d were hidden, not removed", n)
	}
}

// TestRetryRun makes failed runs again: by their owner and by an administrator, each with rights of their own.
func TestRetryRun(t *testing.T) {
	broken := &atomic.Bool{}
	broken.Store(true)
	s := failing(t, broken, nil, nil)
	body := `{"input":"/","params":{"value":"x"},"context":{"more":"var"}}`
	answers(t, s.Do("POST", "/api/v1/automation/Test.Who", body), 409, "")
	denied := ids(failed(t, s, ""))[0]
	err := s.Repo.Update(context.Background(), s.Repo.System(), func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		if err != nil {
			return err
		}
		_, err = tx.SetACL(root, "local", []storage.ACE{{User: "alice", Permission: "Read", Granted: true}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	answers(t, s.Do("POST", "/api/v1/automation/Test.Who", body, "as", "alice"), 409, "")
	id := ids(failed(t, s, ""))[0]
	at := runsAt + "/" + id + "/retry"

	again := s.Do("POST", at, "", "as", "alice")
	answers(t, again, 409, "it is broken")
	newest := failed(t, s, "", "as", "alice")[0]
	if newest["repeats"] != id || newest["id"] == id || again.Header.Get("Catena-Repeats") != id {
		t.Errorf("the run %v repeats %s", newest, id)
	}
	for _, version := range []string{"x", "0", "-1", "1.5"} {
		answers(t, s.Do("POST", at+"?version="+version, "", "as", "alice"), 400, "same, latest or the number")
	}
	answers(t, s.Do("POST", at+"?version=2", ""), 404, "operation Test.Who version 2")
	answers(t, s.Do("POST", runsAt+"/"+denied+"/retry", "", "as", "alice"), 404, "")
	reader := s.Do("POST", at, "", bearer(s.Key("bob", "read_only"))...)
	answers(t, reader, 404, "")

	answers(t, s.Do("POST", "/api/v1/repo/beside/automation/Test.Who", body), 409, "")
	beside := failed(t, s, "")[0]
	if beside["repository"] != "beside" {
		t.Errorf("a run in another repository: %v", beside)
	}

	broken.Store(false)
	answers(t, s.Do("POST", runsAt+"/"+beside["id"].(string)+"/retry", ""), 200, `"Administrator x / var beside"`)
	answers(t, s.Do("POST", at, "", "as", "alice"), 200, `"alice x / var default"`)
	answers(t, s.Do("POST", at+"?version=latest", ""), 200, `"Administrator x / var default"`)
	key := []string{"as", "alice", "Idempotency-Key", "again"}
	if a, b := s.Do("POST", at, "", key...), s.Do("POST", at, "", key...); a.StatusCode != http.StatusOK || a.Text != b.Text {
		t.Errorf("twice with one key: %s %s, %s %s", a.Status, a.Text, b.Status, b.Text)
	}

	// A user made again under the name sees nothing of it.
	answers(t, s.Do("DELETE", "/api/v1/user/alice", ""), 204, "")
	s.User("alice")
	if list := failed(t, s, "", "as", "alice"); len(list) != 0 {
		t.Errorf("a new alice sees %v", list)
	}
	answers(t, s.Do("POST", at, "", "as", "alice"), 404, "")
}

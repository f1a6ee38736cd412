package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage/postgres/pgtest"
)

// skewVariable is the environment variable by which the server of skewedBinary sets its clock forward, in seconds.
const skewVariable = "CATENA_TEST_SKEW"

// skewedBinary builds a server whose time.Now is ahead as the environment says. Libraries that change the clock of a process do so
// for C only, so that the standard library has to be another one; go build has a way to replace its files.
func skewedBinary(t *testing.T) string {
	t.Helper()
	switch name := os.Getenv("CATENA_SKEW"); {
	case name == "":
		t.Skip("compiles all packages once more; CATENA_SKEW=1 has it done")
	case filepath.IsAbs(name):
		return name // one that was built before
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir, file := t.TempDir(), filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for old, now := range map[string]string{
		"import (\n": "import (\n\t\"syscall\"\n",
		"\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {": "\tsec, nsec, mono := runtimeNow()\n\tsec += skewOfTest\n\tif mono == 0 {",
	} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("%s has %q %d times: this Go is another one", file, old, strings.Count(text, old))
		}
		text = strings.Replace(text, old, now, 1)
	}
	text += "\nvar skewOfTest = func() int64 {\n\ttext, _ := syscall.Getenv(\"" + skewVariable + "\")\n\tn, _ := atoi(text)\n\treturn int64(n)\n}()\n"
	replaced, overlay, name := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "catena")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{file: replaced}})
	for path, content := range map[string][]byte{replaced: []byte(text), overlay: list} {
		if err == nil {
			err = os.WriteFile(path, content, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-overlay", overlay, "-o", name, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// startSkewed is startServer for a server whose clock is ahead.
func startSkewed(t *testing.T, name string, ahead int, data string, args ...string) *process {
	t.Helper()
	by := []string{"env", skewVariable + "=" + strconv.Itoa(ahead), "sh", "-c", `shift; exec "$0" "$@"`, name} // in place of the usual one
	return startBy(t, by, data, args...)
}

// skewed are a node with the right time and one whose clock is wrong.
type skewed struct {
	t     *testing.T
	nodes [2]*process
	made  time.Time // when the test began, by the right clock
	mu    sync.Mutex
	told  map[string]int // messages to the webhook, by id
}

// TestNodesSkew has the clock of one of two nodes a minute ahead or behind. It says so, in its log and as a metric, and goes by the
// clock of the database in all that it writes and compares: what happened is in order, and what expires, is due, or is leased is so
// on both nodes at the same moment. Either of them may be killed, as in TestNodesCrash: nothing acknowledged is lost, nothing is
// half done, and no job is done twice.
func TestNodesSkew(t *testing.T) {
	name := skewedBinary(t)
	for _, ahead := range []int{60, -60} {
		t.Run(strconv.Itoa(ahead), func(t *testing.T) {
			s := &skewed{t: t, told: map[string]int{}, made: time.Now()}
			args := []string{"--store", pgtest.Database(t), "--blobs", t.TempDir(), "--rate", "-1", "--egress-allow", "127.0.0.0/8", "--egress-http"}
			s.nodes[0] = startServer(t, t.TempDir(), args...)
			s.nodes[1] = startSkewed(t, name, ahead, t.TempDir(), args...)
			s.says(ahead)
			for _, source := range []string{madeOnce, slowChain, oneWaits, fewWait} {
				saveChain(t, s.nodes[0].base, source)
			}
			for _, name := range []string{"Crash.Made", "Crash.Slow", "Crash.Few"} {
				awaitOp(t, s.nodes[1].base, name)
			}
			stop := s.slowWebhook()
			s.order()
			s.lock()
			s.session()
			s.key()
			s.schedules()
			s.leases()
			s.chains()
			stop()
			code, out, errs := line(t, append([]string{"nodes", "--data", t.TempDir()}, args[:4]...)...)
			if code != 0 || strings.Count(out, " up") != 2 {
				t.Errorf("nodes: %d, %s%s", code, out, errs)
			}
		})
		t.Run(strconv.Itoa(ahead)+"/killed", func(t *testing.T) {
			c := newCrashing(t, func(node int, data string, args []string) *process {
				if node == 0 {
					return startServer(t, data, args...)
				}
				return startSkewed(t, name, ahead, data, args...)
			})
			c.kill(killCount(t, 4))
		})
	}
}

// says expects the difference in the log and in the metrics of the node.
func (s *skewed) says(ahead int) {
	if log := s.nodes[1].log.String(); !strings.Contains(log, "the clocks of this machine and of the database differ") {
		s.t.Errorf("the log does not tell of the clock:\n%s", log)
	}
	for i, want := range []float64{0, float64(-ahead)} {
		text := s.nodes[i].want(s.t, 200, "Administrator", "GET", "/metrics", "")
		m := regexp.MustCompile(`(?m)^catena_clock_skew_seconds (\S+)$`).FindStringSubmatch(text)
		if m == nil {
			s.t.Errorf("node %d has no metric of the clock", i)
			continue
		}
		if got, err := strconv.ParseFloat(m[1], 64); err != nil || got < want-5 || got > want+5 {
			s.t.Errorf("node %d: clock_skew %s, want about %v", i, m[1], want)
		}
	}
}

// near expects a moment of now, by the right clock.
func (s *skewed) near(what, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(s.made.Add(-5*time.Second)) || at.After(time.Now().Add(5*time.Second)) {
		s.t.Errorf("%s at %s, %v: it is %s", what, text, err, time.Now().UTC().Format(time.RFC3339))
	}
	return at
}

// order changes a document on both nodes in turn: the moments, and those of the audit log, are in the order of the changes.
func (s *skewed) order() {
	t := s.t
	s.nodes[0].want(t, 201, "Administrator", "POST", spaces, `{"entity-type":"document","type":"File","name":"ordered"}`)
	var last time.Time
	const changes = 10
	for i := range changes {
		text := s.nodes[1-i%2].want(t, 200, "Administrator", "PUT", spaces+"/ordered?properties=*", fmt.Sprintf(`{"entity-type":"document","properties":{"dc:description":"%d"}}`, i))
		var d struct{ Properties map[string]any }
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		at := s.near("a change", d.Properties["dc:modified"].(string))
		if at.Before(last) {
			t.Errorf("change %d at %s, after one at %s", i, at, last)
		}
		last = at
	}
	var log struct {
		Entries []struct {
			ID                 int64
			EventID, EventDate string
		}
	}
	if err := json.Unmarshal([]byte(s.nodes[0].want(t, 200, "Administrator", "GET", spaces+"/ordered/@audit?pageSize=100", "")), &log); err != nil {
		t.Fatal(err)
	}
	events := log.Entries
	slices.Reverse(events) // the newest one is first
	n := 0
	last = time.Time{}
	for _, e := range events {
		at := s.near("an entry of the audit log", e.EventDate)
		if at.Before(last) {
			t.Errorf("entry %d (%s) at %s, after one at %s", e.ID, e.EventID, at, last)
		}
		last = at
		if e.EventID == "documentModified" {
			n++
		}
	}
	if n != changes {
		t.Errorf("%d changes in the audit log, want %d", n, changes)
	}
}

func (s *skewed) lock() {
	for i, p := range s.nodes {
		runs(s.t, p.base, "Document.Lock", map[string]any{}, nil, "/default-domain/workspaces/ordered")
		var d struct{ LockCreated string }
		if err := json.Unmarshal([]byte(s.nodes[1-i].want(s.t, 200, "Administrator", "GET", spaces+"/ordered?fetch.document=lock&enrichers.document=lock", "")), &d); err != nil {
			s.t.Fatal(err)
		}
		if d.LockCreated != "" {
			s.near("a lock", d.LockCreated)
		}
		runs(s.t, s.nodes[1-i].base, "Document.Unlock", map[string]any{}, nil, "/default-domain/workspaces/ordered")
	}
}

// session signs a browser in on each node: the other one knows it at once.
func (s *skewed) session() {
	t := s.t
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for i, p := range s.nodes {
		form := url.Values{"user": {"Administrator"}, "password": {adminPassword}}
		req, err := http.NewRequest(http.MethodPost, p.base+"/login", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", p.base)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		ask, err := http.NewRequest(http.MethodGet, s.nodes[1-i].base+"/api/v1/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range resp.Cookies() {
			if c.Expires.Before(time.Now().Add(11 * time.Hour)) {
				t.Errorf("cookie %s of node %d ends at %s", c.Name, i, c.Expires)
			}
			ask.AddCookie(c)
		}
		got, err := client.Do(ask)
		if err != nil {
			t.Fatal(err)
		}
		if text := whole(t, got); got.StatusCode != http.StatusOK {
			t.Errorf("session of node %d on the other one: %s %.200s", i, got.Status, text)
		}
	}
}

// key makes keys that expire soon, on each node: both take them until then, and not any longer.
func (s *skewed) key() {
	t := s.t
	for i := range s.nodes {
		expires := time.Now().Add(8 * time.Second)
		var k struct {
			Key   string
			Value struct{ Key string }
		}
		runs(t, s.nodes[i].base, "Key.Create", map[string]any{"name": "k" + strconv.Itoa(i), "scope": "read_only", "expires": expires.UTC().Format("2006-01-02T15:04:05.000Z")}, &k)
		text := k.Key + k.Value.Key
		accepted := func(p *process) bool {
			req, err := http.NewRequest(http.MethodGet, p.base+"/api/v1/me", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+text)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			whole(t, resp)
			return resp.StatusCode == http.StatusOK
		}
		for n, p := range s.nodes {
			if began := time.Now(); !accepted(p) && time.Now().Before(expires.Add(-time.Second)) {
				t.Errorf("node %d refuses a key of node %d %s before it expires", n, i, expires.Sub(began))
			}
		}
		time.Sleep(time.Until(expires.Add(time.Second)))
		for n, p := range s.nodes {
			if accepted(p) {
				t.Errorf("node %d takes a key of node %d that has expired", n, i)
			}
		}
	}
}

// schedules saves schedules on both nodes: each runs once, and not before its time.
func (s *skewed) schedules() {
	t := s.t
	const many = 10
	due := map[string]time.Time{}
	for n := range many {
		name := fmt.Sprintf("T%02d", n)
		due["made-"+name] = time.Now().Add(3 * time.Second).Truncate(time.Millisecond)
		planAt(t, s.nodes[n%2], name, 3*time.Second)
	}
	var made map[string]string
	for end := time.Now().Add(40 * time.Second); len(made) < many && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		made = titles(t, s.nodes[0].base, "made-T")
	}
	time.Sleep(2 * time.Second) // for those that would run again
	if made = titles(t, s.nodes[1].base, "made-T"); len(made) != many {
		t.Errorf("%d schedules have made %d documents", many, len(made))
	}
	for name := range made {
		var d struct{ Properties map[string]any }
		if err := json.Unmarshal([]byte(s.nodes[0].want(t, 200, "Administrator", "GET", "/api/v1/path/"+name+"?properties=*", "")), &d); err != nil {
			t.Fatal(err)
		}
		at := s.near("a schedule's document", d.Properties["dc:created"].(string))
		if want := due[name]; at.Before(want.Add(-50 * time.Millisecond)) {
			t.Errorf("%s was made at %s, %s early", name, at, want.Sub(at))
		}
	}
}

// slowWebhook has a receiver that takes its time; stop expects each message to have come once.
func (s *skewed) slowWebhook() (stop func()) {
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		s.mu.Lock()
		s.told[req.Header.Get("webhook-id")]++
		s.mu.Unlock()
		time.Sleep(1500 * time.Millisecond)
	}))
	s.t.Cleanup(hook.Close)
	runs(s.t, s.nodes[0].base, "Webhook.Create", map[string]any{"url": hook.URL, "events": []string{"document.updated"}}, nil)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.told) == 0 {
			s.t.Error("the webhook was told of nothing")
		}
		for id, n := range s.told {
			if n != 1 {
				s.t.Errorf("message %s was sent %d times: the lease of its job was not respected", id, n)
			}
		}
	}
}

// leases begins runs on both nodes: neither takes those of the other one for lost, nor the other one itself, also after the time that
// a lease lasts.
func (s *skewed) leases() {
	t := s.t
	at := [2]string{}
	for i, p := range s.nodes {
		at[i] = beginRun(t, p, "Crash.Slow", fmt.Sprintf(`{"params":{"name":"slow%d"}}`, i))
	}
	for i := range at {
		if agrees(t, s.nodes[1-i], at[i], fmt.Sprintf("slow%d", i)) {
			t.Errorf("a run of node %d was declared lost", i)
		}
	}
	for end := time.Now().Add(18 * time.Second); time.Now().Before(end); time.Sleep(time.Second) {
		for _, p := range s.nodes {
			p.want(t, 200, "Administrator", "GET", "/readyz", "")
		}
	}
}

// chains has chains wait that were begun on both nodes.
func (s *skewed) chains() {
	t := s.t
	for i, p := range s.nodes {
		runs(t, p.base, "Crash.Few", map[string]any{"round": strconv.Itoa(i)}, nil)
	}
	ran, done := map[string]string{}, 0
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && done < 20; time.Sleep(100 * time.Millisecond) {
		ran, done = titles(t, s.nodes[1].base, "wait-"), 0
		for _, title := range ran {
			if title == "run+*" {
				done++
			}
		}
	}
	if len(ran) != 20 || done != 20 {
		t.Errorf("%d of 20 chains went on to their end, and have %d notes", done, len(ran))
	}
}

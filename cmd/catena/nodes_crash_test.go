package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/engine/mail/mailtest"
	"catena/storage/postgres/pgtest"
)

// fewWait makes notes whose chains wait, and go on twice.
const fewWait = `name: Crash.Few
output: void
params:
  - {name: round, type: string, required: true}
steps:
  - each: "1..10"
    steps:
      - op: Repository.GetDocument
        params: {value: /}
      - op: Document.Create
        params: {type: Note, name: "wait-@{round}-@{item}", properties: {"dc:title": "run"}}
      - op: Crash.Wait
`

// Writers of a round by what they call: those below the first number make five documents, those below the second one a document
// with a message, on the node that is killed; the others do the latter on the node that goes on.
const (
	fiveWriters   = 8
	noticeWriters = 12
	allWriters    = 14
)

// crashing are two nodes of a database that are killed in turn, with what has been asked of them.
type crashing struct {
	t         *testing.T
	start     func(node int) *process
	nodes     [2]*process
	sink      *mailtest.Sink
	hook      *receiver
	acked     map[string]bool // documents with a message
	unknown   map[string]bool // whether they are there is not known
	five      int             // acknowledged calls that made five documents
	scheduled int
	waiting   int
	runs      map[string]string // asynchronous ones, by what they make
	lost      int               // of these, with all that they have done
}

// TestNodesCrash kills one of two servers on a database in the middle of its work, in turn, while both have mail and webhooks to
// send, schedules and waiting chains to go on with, and asynchronous runs. The other one has at once what was acknowledged, whole,
// and so has the one that was killed when it is back; in the end each job has been done, and none twice, except that a message may
// arrive again with its id. CATENA_KILLS sets how often; make fault does so 100 times.
func TestNodesCrash(t *testing.T) {
	kills := killCount(t, 2)
	c := newCrashing(t, func(_ int, data string, args []string) *process { return startServer(t, data, args...) })
	c.kill(kills)
	if kills >= 100 && (c.five < kills || len(c.acked) < kills) { // in a few rounds a slow machine may not get that far
		t.Errorf("only %d and %d calls were acknowledged in %d rounds: the test did not test much", c.five, len(c.acked), kills)
	}
	t.Logf("%d kills, %d acknowledged calls of five documents, none lost, none half done; %d schedules and %d waiting chains each went on once; %d asynchronous runs did all that they say, %d of them nothing",
		kills, c.five, c.scheduled, c.waiting, len(c.runs), c.lost)
}

func newCrashing(t *testing.T, start func(node int, data string, args []string) *process) *crashing {
	t.Helper()
	c := &crashing{t: t, sink: mailtest.Start(t), hook: receive(t), acked: map[string]bool{}, unknown: map[string]bool{}, runs: map[string]string{}}
	host, port := c.sink.Address()
	args, data := []string{
		"--store", pgtest.Database(t), "--blobs", t.TempDir(), "--rate", "-1", "--egress-allow", "127.0.0.0/8", "--egress-http",
		"--smtp-host", host, "--smtp-port", strconv.Itoa(port), "--smtp-security", "none", "--smtp-from", "catena@example.org",
	}, [2]string{t.TempDir(), t.TempDir()}
	c.start = func(node int) *process { return start(node, data[node], args) }
	for i := range c.nodes {
		c.nodes[i] = c.start(i)
	}
	for _, source := range []string{crashChain, noticeChain, oneWaits, fewWait, madeOnce, slowChain} {
		saveChain(t, c.nodes[0].base, source)
	}
	for _, name := range []string{"Crash.Five", "Crash.Notice", "Crash.Wait", "Crash.Few", "Crash.Made", "Crash.Slow"} {
		awaitOp(t, c.nodes[1].base, name)
	}
	runs(t, c.nodes[0].base, "Webhook.Create", map[string]any{"url": c.hook.URL, "events": []string{"document.created"}}, nil)
	return c
}

// kill kills nodes so often, and looks at what has become of all work.
func (c *crashing) kill(times int) {
	c.t.Helper()
	for i := range times {
		c.round(i)
	}
	c.settle()
	c.verifyJobs()
}

// round has both nodes work, and kills one of them.
func (c *crashing) round(i int) {
	t, victim, other := c.t, c.nodes[i%2], c.nodes[1-i%2]
	get(t, victim.base+workspaces) // the first sign-in hashes the password
	for n := range 4 {
		planAt(t, c.nodes[n%2], fmt.Sprintf("K%03dx%d", i, n), time.Duration(100+rand.IntN(800))*time.Millisecond)
		c.scheduled++
	}
	runs(t, victim.base, "Crash.Few", map[string]any{"round": strconv.Itoa(i)}, nil)
	c.waiting += 10
	if i%4 < 2 { // on the one that is killed now, or next
		name := fmt.Sprintf("run%d", i)
		c.runs[name] = beginRun(t, c.nodes[0], "Crash.Slow", `{"params":{"name":"`+name+`"}}`)
	}
	attempts := writeUntilKilled(victim, i, allWriters, func(base, name string) bool {
		switch w := writerOf(name); {
		case w < fiveWriters:
			return callCrash(base, name)
		case w < noticeWriters:
			return callNotice(base, name)
		}
		return callNotice(other.base, name)
	})
	// A commit that the database had received when the server was killed ends a moment later.
	time.Sleep(100 * time.Millisecond)
	fives := slices.DeleteFunc(slices.Clone(attempts), func(a attempt) bool { return writerOf(a.name) >= fiveWriters })
	verifyCrash(t, other.base, fives)
	c.nodes[i%2] = c.start(i % 2)
	verifyCrash(t, c.nodes[i%2].base, fives)
	for _, a := range attempts {
		switch {
		case writerOf(a.name) < fiveWriters && a.acked:
			c.five++
		case writerOf(a.name) < fiveWriters:
		case a.acked:
			c.acked[a.name] = true
		default:
			c.unknown[a.name] = true
		}
	}
}

// writerOf is the number of the writer that made an attempt.
func writerOf(name string) int {
	_, w, _ := strings.Cut(name, "-w")
	w, _, _ = strings.Cut(w, "-")
	n, _ := strconv.Atoi(w)
	return n
}

// settle waits until all jobs are done: those of a killed node once their leases have expired.
func (c *crashing) settle() {
	t, base, left := c.t, c.nodes[0].base, ""
	var still struct{ Value []map[string]any }
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if left = firstMissing(c.acked, messages(c.sink), c.hook); left != "" {
			continue
		}
		if made := titles(t, base, "made-K"); len(made) < c.scheduled {
			left = fmt.Sprintf("%d of %d schedules", c.scheduled-len(made), c.scheduled)
			continue
		}
		if runs(t, base, "Run.Waiting", map[string]any{"limit": 1}, &still); len(still.Value) == 0 {
			return
		}
		left = fmt.Sprintf("waiting chain %v", still.Value[0])
	}
	_, jobs := administer(t, http.MethodPost, base+"/api/v1/automation/Job.List", "application/json", `{"params":{}}`)
	t.Errorf("never done: %s; jobs that are left: %.2000s", left, jobs)
}

// verifyJobs looks at what all jobs have done.
func (c *crashing) verifyJobs() {
	t, base := c.t, c.nodes[1].base
	if made := titles(t, base, "made-K"); len(made) != c.scheduled { // a second run has to choose another name
		t.Errorf("%d schedules made %d documents: %v", c.scheduled, len(made), slices.Sorted(maps.Keys(made)))
	}
	ran := titles(t, base, "wait-")
	if len(ran) != c.waiting {
		t.Errorf("%d notes of %d chains", len(ran), c.waiting)
	}
	for name, title := range ran {
		if title != "run+*" {
			t.Errorf("%s went on as far as %q", name, title)
		}
	}
	for name, at := range c.runs {
		if agrees(t, c.nodes[0], at, name) {
			c.lost++
		}
	}
	c.verifyMessages()
}

// verifyMessages looks whether the messages were those of documents that are there, each with one id.
func (c *crashing) verifyMessages() {
	t, repeated := c.t, 0
	mails := messages(c.sink)
	c.hook.mu.Lock()
	defer c.hook.mu.Unlock()
	var wg sync.WaitGroup
	for kind, got := range map[string]map[string]map[string]int{"mail": mails, "webhook": c.hook.got} {
		for name, ids := range got {
			if name == "" || writerOf(name) < fiveWriters {
				continue // several documents have the name in their paths
			}
			if len(ids) > 1 {
				t.Errorf("%s of %s came with %d ids", kind, name, len(ids))
			}
			for _, n := range ids {
				repeated += n - 1
			}
			if c.unknown[name] {
				wg.Go(func() {
					if status, _ := get(t, c.nodes[0].base+workspaces+name); status != http.StatusOK {
						t.Errorf("%s of %s, which was rolled back", kind, name)
					}
				})
			}
		}
	}
	wg.Wait()
	t.Logf("%d acknowledged calls with a message and a webhook each: all arrived, %d again with the id of before", len(c.acked), repeated)
}

// awaitOp waits until a server has the chain that was saved on another one.
func awaitOp(t *testing.T, base, name string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		status, text := get(t, base+"/api/v1/automation/"+name)
		if status == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the chain is not on the other node: %d %s", status, text)
		}
	}
}

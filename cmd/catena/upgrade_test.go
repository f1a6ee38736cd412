package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"catena/storage/postgres/pgtest"
)

// before is the program of the previous version, which make upgrade builds.
func before(t *testing.T) string {
	t.Helper()
	name := os.Getenv("CATENA_BEFORE")
	if name == "" {
		t.Skip("compiles another version; make upgrade BEFORE=COMMIT has it done")
	}
	return name
}

// startVersion is startServer by a program, "" for the one of today.
func startVersion(t *testing.T, name, data string, args ...string) *process {
	t.Helper()
	if name == "" {
		return startServer(t, data, args...)
	}
	return startBy(t, []string{"sh", "-c", `shift; exec "$0" "$@"`, name}, data, args...)
}

// upgraded is what servers of two versions have made, and what all of them must show.
type upgraded struct {
	t       *testing.T
	made    int
	titles  map[string]string // of documents, by name
	async   []string          // addresses of asynchronous runs, by number
	failed  int               // calls that failed
	waiting int               // rounds of chains that wait
	words   int               // versions of a vocabulary
}

// work has a server make something of each kind that is kept.
func (u *upgraded) work(p *process) {
	t := u.t
	t.Helper()
	for range 10 {
		u.made++
		name, title := fmt.Sprintf("u%03d", u.made), fmt.Sprintf("word%03d common", u.made)
		p.want(t, 201, "Administrator", "POST", spaces, fmt.Sprintf(`{"entity-type":"document","type":"File","name":%q,"properties":{"dc:title":%q,"dc:subjects":["s%d"]}}`, name, title, u.made))
		u.titles[name] = title
	}
	// What others made is changed, versioned and locked as well.
	for n := 1; n <= u.made; n += 7 {
		name := fmt.Sprintf("u%03d", n)
		u.titles[name] += "+"
		p.want(t, 200, "Administrator", "PUT", spaces+"/"+name, fmt.Sprintf(`{"entity-type":"document","properties":{"dc:title":%q}}`, u.titles[name]))
		runs(t, p.base, "Document.CreateVersion", map[string]any{"increment": "Minor"}, nil, "/default-domain/workspaces/"+name)
		runs(t, p.base, "Document.AddPermission", map[string]any{"permission": "Read", "user": "ann"}, nil, "/default-domain/workspaces/"+name)
	}
	name := fmt.Sprintf("slow%d", len(u.async))
	u.async = append(u.async, beginRun(t, p, "Crash.Slow", fmt.Sprintf(`{"params":{"name":%q}}`, name)))
	if status, text := p.ask(t, "Administrator", "POST", "/api/v1/automation/Document.Create", `{"params":{"type":"Nope"},"input":"/"}`); status < 400 || status >= 500 {
		t.Errorf("a type that does not exist: %d %s", status, text)
	}
	u.failed++
	runs(t, p.base, "Crash.Few", map[string]any{"round": fmt.Sprint(u.waiting)}, nil)
	u.waiting++
	planAt(t, p, fmt.Sprintf("U%02d", u.waiting), time.Second)
}

// shows expects a server to have all that was made, whichever version it is of.
func (u *upgraded) shows(p *process) {
	t := u.t
	t.Helper()
	for name, title := range u.titles {
		text := p.want(t, 200, "Administrator", "GET", spaces+"/"+name+"?properties=*", "")
		if !strings.Contains(text, fmt.Sprintf(`"dc:title":%q`, title)) {
			t.Errorf("%s: no title %q in %.400s", name, title, text)
		}
		status := http.StatusNotFound // what may not be read is as if it were not there
		if strings.HasSuffix(title, "+") {
			status = http.StatusOK
		}
		p.want(t, status, "ann", "GET", spaces+"/"+name, "")
	}
	u.counts(p, "SELECT * FROM File WHERE ecm:isVersion = 0 AND ecm:name LIKE 'u%'", u.made)
	u.counts(p, "SELECT * FROM File WHERE ecm:isVersion = 0 AND dc:subjects/* = 's3'", 1)
	u.counts(p, "SELECT * FROM File WHERE ecm:isVersion = 0 AND ecm:fulltext = 'common' AND ecm:name LIKE 'u%'", u.made)
	u.ended(p)
	text := p.want(t, 200, "Administrator", "GET", "/api/v1/automation/runs?state=failed&operation=Document.Create", "")
	if n := strings.Count(text, `"op":"Document.Create"`); n != u.failed {
		t.Errorf("%d calls that failed, want %d: %.400s", n, u.failed, text)
	}
	want := 10 * u.waiting
	ran, done := map[string]string{}, 0
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && done < want; time.Sleep(100 * time.Millisecond) {
		ran, done = titles(t, p.base, "wait-"), 0
		for _, title := range ran {
			if title == "run+*" {
				done++
			}
		}
	}
	if len(ran) != want || done != want {
		t.Errorf("%d of %d chains went on to their end once, and have %d notes", done, want, len(ran))
	}
	made := titles(t, p.base, "made-U")
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && len(made) < u.waiting; time.Sleep(100 * time.Millisecond) {
		made = titles(t, p.base, "made-U")
	}
	if len(made) != u.waiting {
		t.Errorf("%d schedules have made %d documents", u.waiting, len(made))
	}
}

// ended expects that all asynchronous runs end, and none is lost.
func (u *upgraded) ended(p *process) {
	u.t.Helper()
	for i, at := range u.async {
		if agrees(u.t, p, at, fmt.Sprintf("slow%d", i)) {
			u.t.Errorf("asynchronous run %d is lost", i)
		}
	}
}

// counts expects a query to find so many documents, within a time, since full text follows.
func (u *upgraded) counts(p *process, query string, want int) {
	u.t.Helper()
	n := -1
	for end := time.Now().Add(30 * time.Second); n != want && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var page struct{ ResultsCount int }
		runs(u.t, p.base, "Repository.Query", map[string]any{"query": query, "pageSize": 1}, &page)
		n = page.ResultsCount
	}
	if n != want {
		u.t.Errorf("%s: %d documents, want %d", query, n, want)
	}
}

// begin deploys the chains on the server that is the first one.
func (u *upgraded) begin(p *process) {
	for _, source := range []string{madeOnce, slowChain, oneWaits, fewWait} {
		saveChain(u.t, p.base, source)
	}
	p.want(u.t, 204, "Administrator", "POST", "/api/v1/automation/User.CreateOrUpdate", `{"params":{"username":"ann","password":"a long ann"}}`)
	runs(u.t, p.base, "Document.AddPermission", map[string]any{"permission": "Read", "user": "ann"}, nil, "/")
	runs(u.t, p.base, "Document.BlockPermissionInheritance", map[string]any{}, nil, "/default-domain/workspaces")
}

// TestUpgrade upgrades two servers of one database one after the other, and back again, while both work: all that servers of either
// version make, those of the other one show and go on with. No index is declared automatically while the versions differ.
func TestUpgrade(t *testing.T) {
	old := before(t)
	args := []string{"--store", pgtest.Database(t), "--blobs", t.TempDir(), "--rate", "-1"}
	u := &upgraded{t: t, titles: map[string]string{}}
	nodes := [2]*process{startVersion(t, old, t.TempDir(), args...), startVersion(t, old, t.TempDir(), args...)}
	u.begin(nodes[0])
	versions := [2]string{old, old}
	awaitOp(t, nodes[1].base, "Crash.Few")
	for step, change := range []struct {
		node int
		to   string
	}{{0, old}, {0, ""}, {1, ""}, {0, old}, {1, old}, {1, ""}, {0, ""}} {
		if step > 0 {
			u.work(nodes[change.node]) // which leaves its chains and schedules to the other one
			u.ended(nodes[1-change.node])
			began := time.Now()
			nodes[change.node].stop(t)
			nodes[change.node] = startVersion(t, change.to, t.TempDir(), args...)
			awaitOp(t, nodes[change.node].base, "Crash.Few")
			t.Logf("step %d: node %d is ready again after %s", step, change.node, time.Since(began).Round(time.Millisecond))
		}
		for _, p := range nodes {
			u.work(p)
		}
		for _, p := range nodes {
			u.shows(p)
		}
		u.automatic(nodes[change.node])
		if versions[change.node] = change.to; change.to == "" {
			u.declares(nodes[change.node], versions[1-change.node])
		}
	}
	if u.words == 0 {
		t.Error("no vocabulary was deployed although both servers were of this version")
	}
	for _, p := range nodes {
		p.stop(t)
	}
	if code, out, errs := line(t, append([]string{"verify", "--data", t.TempDir()}, args[:4]...)...); code != 0 {
		t.Errorf("verify: %d %s%s", code, out, errs)
	}
	t.Logf("%d documents, %d asynchronous runs, %d chains that waited", u.made, len(u.async), 10*u.waiting)
}

// declares deploys a vocabulary on a server of today. That is refused while the other one may be of a version that would not follow.
func (u *upgraded) declares(p *process, beside string) {
	t := u.t
	t.Helper()
	u.words++
	status, text := p.ask(t, "Administrator", "POST", "/api/v1/automation/Vocabulary.Save",
		fmt.Sprintf(`{"params":{"name":"words.yaml","source":"directories:\n  word:\n    schema: vocabulary\n    entries:\n      w%d: {en: Word}\n"}}`, u.words))
	switch {
	case status == http.StatusConflict && beside != "" && strings.Contains(text, "upgrade all servers first"):
		u.words--
	case status != http.StatusOK:
		t.Errorf("a vocabulary beside %q: %d %s", beside, status, text)
	}
	if u.words > 0 {
		p.want(t, 200, "Administrator", "GET", fmt.Sprintf("/api/v1/directory/word/w%d", u.words), "")
	}
}

// automatic expects that the server has declared no index by itself. Those of the version before do not know the figure.
func (u *upgraded) automatic(p *process) {
	u.t.Helper()
	for l := range strings.SplitSeq(p.want(u.t, 200, "Administrator", "GET", "/metrics", ""), "\n") {
		if strings.HasPrefix(l, "catena_automatic_indexes{") && !strings.HasSuffix(l, " 0") {
			u.t.Error(l)
		}
	}
}

// TestUpgradeKilled kills servers in the middle of their work, as TestNodesCrash does, of which each comes back in the other version:
// what one has begun, one of the other version goes on with, in both directions. CATENA_KILLS sets how often; four go through all pairs.
func TestUpgradeKilled(t *testing.T) {
	old, kills := before(t), killCount(t, 8)
	next := [2]string{old, ""}
	c := newCrashing(t, func(node int, data string, args []string) *process {
		name := next[node]
		next[node] = old
		if name == old {
			next[node] = ""
		}
		return startVersion(t, name, data, args...)
	})
	c.kill(kills)
	t.Logf("%d kills, %d acknowledged calls of five documents; %d schedules, %d waiting chains, %d asynchronous runs, %d of which did nothing",
		kills, c.five, c.scheduled, c.waiting, len(c.runs), c.lost)
}

// TestUpgradeDirectory has both versions serve one data directory in turn.
func TestUpgradeDirectory(t *testing.T) {
	old, data := before(t), t.TempDir()
	u := &upgraded{t: t, titles: map[string]string{}}
	for step, name := range []string{old, "", old, "", ""} {
		began := time.Now()
		p := startVersion(t, name, data, "--rate", "-1")
		t.Logf("step %d: ready after %s", step, time.Since(began).Round(time.Millisecond))
		if step == 0 {
			u.begin(p)
		} else {
			u.shows(p)
		}
		u.work(p)
		u.shows(p)
		u.work(p) // which the next one goes on with
		u.ended(p)
		p.stop(t)
	}
	if code, out, errs := line(t, "verify", "--data", data); code != 0 {
		t.Errorf("verify: %d %s%s", code, out, errs)
	}
	t.Logf("%d documents, %d asynchronous runs, %d chains that waited", u.made, len(u.async), 10*u.waiting)
}

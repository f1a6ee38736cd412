package mcp_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"catena/chains"
	"catena/decks"
	"catena/engine"
	"catena/engine/schedule"
	"catena/engine/waiting"
	"catena/rest"
	"catena/rest/resttest"
)

var update = flag.Bool("update", false, "write testdata/tasks.golden.txt")

// A token is taken to be four bytes of what a model writes or reads as JSON. It is an estimate: tokenizers differ by model,
// and what counts here is that growth is seen.
const tokenBytes = 4

// task is something that somebody asks of a model, and the calls of a model that does it well.
type task struct {
	name  string
	steps []taskStep
}

// taskStep is a line of a task: a call, or what is expected of the answer to the last one.
type taskStep struct {
	line       int
	word, rest string
}

// readTasks reads testdata/tasks.txt: "task NAME", then "call TOOL ARGUMENTS" at the address of automation, "deck TOOL ARGUMENTS"
// at that of decks, "keep NAME PATH" for a member of the answer, which is $NAME in later arguments, "want TEXT" and "lack TEXT"
// for what the answer has and has not, "fails TEXT" for an error of the last call. "until TEXT" makes the last call again until its answer has the text, which
// counts as one call: runs are recorded soon after they end.
func readTasks(t testing.TB) (all []task) {
	t.Helper()
	text, err := os.ReadFile("testdata/tasks.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "" || strings.HasPrefix(word, "#"):
		case word == "task":
			all = append(all, task{name: rest})
		default:
			last := &all[len(all)-1]
			last.steps = append(last.steps, taskStep{i + 1, word, rest})
		}
	}
	return all
}

// player carries out tasks, and counts.
type player struct {
	t        testing.TB
	sessions map[string]*mcp.ClientSession // by the word of a step
	kept     map[string]string
	last     taskStep // the last call
	answer   string   // to it, as JSON
	failed   bool

	calls, written, read, longest int // the last three in tokens
}

func tokens(n int) int { return (n + tokenBytes - 1) / tokenBytes }

var kept = regexp.MustCompile(`\$[a-z]\w*`)

// What differs from run to run has the same length in all counts.
var varying = []struct {
	pattern *regexp.Regexp
	as      string
}{
	{regexp.MustCompile(`"(duration|start|tries)":\d+`), `"$1":1`},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "2026-01-01T00:00:00.000Z"},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "http://127.0.0.1:8080"},
}

func settled(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.as)
	}
	return text
}

// filled puts what was kept in place of its names.
func (p *player) filled(text string) string {
	return kept.ReplaceAllStringFunc(text, func(name string) string {
		if v, ok := p.kept[name[1:]]; ok {
			return v
		}
		return name
	})
}

func (p *player) call(s taskStep) {
	p.last = s
	tool, args, _ := strings.Cut(s.rest, " ")
	if !json.Valid([]byte(args)) {
		p.t.Fatalf("line %d: not JSON: %s", s.line, args)
	}
	res, err := p.sessions[s.word].CallTool(p.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		p.t.Fatalf("line %d: %v", s.line, err)
	}
	var read bytes.Buffer
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			read.WriteString(text.Text)
		}
	}
	if res.StructuredContent != nil {
		body, err := json.Marshal(res.StructuredContent)
		if err != nil {
			p.t.Fatal(err)
		}
		read.Write(body)
		p.answer = string(body)
	} else {
		p.answer = read.String()
	}
	p.failed = res.IsError
	n := tokens(len(settled(read.String())))
	p.calls, p.written, p.read, p.longest = p.calls+1, p.written+tokens(len(tool)+len(settled(args))), p.read+n, max(p.longest, n)
}

// member finds a value by its path, such as result.entries.0.uid.
func member(answer, path string) (string, bool) {
	var v any
	if json.Unmarshal([]byte(answer), &v) != nil {
		return "", false
	}
	for part := range strings.SplitSeq(path, ".") {
		switch w := v.(type) {
		case map[string]any:
			v = w[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(w) {
				return "", false
			}
			v = w[i]
		default:
			return "", false
		}
	}
	return fmt.Sprint(v), v != nil
}

func (p *player) step(s taskStep) {
	p.t.Helper()
	s.rest = p.filled(s.rest)
	switch s.word {
	case "call", "deck":
		p.call(s)
		return
	case "until":
		for end := time.Now().Add(time.Minute); !strings.Contains(p.answer, s.rest) && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			again := player{t: p.t, sessions: p.sessions}
			again.call(p.last)
			p.answer, p.failed = again.answer, again.failed
		}
		s.word = "want"
	case "fails":
		if !p.failed || !strings.Contains(p.answer, s.rest) {
			p.t.Errorf("line %d: %s: %.600s", s.line, s.rest, p.answer)
		}
		p.failed = false
		return
	}
	if p.failed {
		p.t.Fatalf("line %d: the call failed: %s", s.line, p.answer)
	}
	switch has := strings.Contains(p.answer, s.rest); s.word {
	case "want", "lack":
		if has != (s.word == "want") {
			p.t.Errorf("line %d: %s %s: %.1500s", s.line, s.word, s.rest, p.answer)
		}
	case "keep":
		name, path, _ := strings.Cut(s.rest, " ")
		v, ok := member(p.answer, path)
		if !ok {
			p.t.Fatalf("line %d: no %s in %.800s", s.line, path, p.answer)
		}
		quoted, _ := json.Marshal(v) // text has no errors
		p.kept[name] = string(quoted[1 : len(quoted)-1])
	default:
		p.t.Fatalf("line %d: unknown word %s", s.line, s.word)
	}
}

// office is a server with what the tasks are about.
func office(t testing.TB) *player {
	t.Helper()
	timetable, runs := schedule.New(), waiting.New()
	s := resttest.Start(t, resttest.Config{
		Single: true, Repo: decks.Listen, Ops: slices.Concat(decks.Ops(), chains.New().Ops(), runs.Ops(), timetable.Ops()),
		Rest: func(c *rest.Config) { c.Limits.Rate = -1 }, Engine: func(c *engine.Config) { c.Keeper = runs },
	})
	if err := runs.Load(t.Context(), s.Engine); err != nil {
		t.Fatal(err)
	}
	if err := timetable.Load(t.Context(), s.Engine); err != nil {
		t.Fatal(err)
	}
	s.User("alice")
	s.User("bob")
	pro(t, s, "alice")
	var docs []string
	for i := range 60 {
		docs = append(docs, fmt.Sprintf(`{"name":"minutes-%02d","type":"Note","dc:title":"Minutes %d","dc:nature":%q,"note:note":%q}`, i, i, []string{"report", "letter"}[i%2], strings.Repeat("All agreed. ", 40)))
	}
	for at, what := range map[string]string{"workspaces": "Workspace", "sections": "Section"} {
		name := map[string]string{"workspaces": "office", "sections": "news"}[at]
		got := s.Do("POST", "/api/v1/path/default-domain/"+at, fmt.Sprintf(`{"entity-type":"document","type":%q,"name":%q,"properties":{"dc:title":%q}}`, what, name, strings.ToUpper(name)))
		if got.StatusCode >= 300 {
			t.Fatal(got.Text)
		}
	}
	docs = append(docs, `{"name":"plan","type":"Note","dc:title":"Budget plan","dc:description":"Next year","note:note":"We buy a telescope.","note:mime_type":"text/plain"}`,
		`{"name":"letter","type":"Note","dc:title":"Letter to Ada","note:note":"Dear Ada","note:mime_type":"text/plain"}`, `{"name":"archive","type":"Folder","dc:title":"Archive"}`)
	if got := s.Do("POST", "/api/v1/bulk?key=name&into=/default-domain/workspaces/office", strings.Join(docs, "\n"), "Content-Type", "application/x-ndjson"); got.StatusCode >= 300 {
		t.Fatal(got.Text)
	}
	return &player{t: t, kept: map[string]string{"office": "/default-domain/workspaces/office", "news": "/default-domain/sections/news"}, sessions: map[string]*mcp.ClientSession{
		"call": connect(t, s, "/mcp/automation", s.Key("Administrator", "read_write"), "2025-11-25"),
		"deck": connect(t, s, "/mcp", s.Key("alice", "read_write"), "2025-11-25"),
	}}
}

// TestTasks plays all tasks and compares what each costs with testdata/tasks.golden.txt, so that growth is seen in review.
func TestTasks(t *testing.T) {
	p := office(t)
	var out strings.Builder
	fmt.Fprintf(&out, "%-58s %5s %7s %7s %7s\n", "task", "calls", "written", "read", "longest")
	row := func(name string, calls, written, read, longest int) {
		fmt.Fprintf(&out, "%-58s %5d %7d %7d %7d\n", name, calls, written, read, longest)
	}
	for _, word := range []string{"call", "deck"} {
		list, err := p.sessions[word].ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(list.Tools)
		if err != nil {
			t.Fatal(err)
		}
		row("list of tools, "+map[string]string{"call": "automation", "deck": "decks"}[word], 1, 0, tokens(len(body)), tokens(len(body)))
	}
	var calls, written, read, longest int
	all := readTasks(t)
	for _, one := range all {
		t.Run(one.name, func(t *testing.T) {
			p.t, p.calls, p.written, p.read, p.longest = t, 0, 0, 0, 0
			for _, s := range one.steps {
				p.step(s)
			}
			if p.longest > 8200 {
				t.Errorf("an answer has %d tokens", p.longest)
			}
			row(one.name, p.calls, p.written, p.read, p.longest)
			calls, written, read, longest = calls+p.calls, written+p.written, read+p.read, max(longest, p.longest)
		})
	}
	row(fmt.Sprintf("all %d tasks", len(all)), calls, written, read, longest)
	if len(all) < 40 {
		t.Errorf("%d tasks", len(all))
	}
	compareCosts(t, out.String())
}

// compareCosts compares a table of costs with the golden file. Numbers may differ by a tenth, since the documentation of operations
// changes a little with many of their changes.
func compareCosts(t *testing.T, got string) {
	t.Helper()
	const golden = "testdata/tasks.golden.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	body, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want, was := costs(string(body)), costs(got)
	for name, now := range was {
		before := want[name]
		for i, n := range now {
			if len(before) != len(now) || i == 0 && n != before[0] || abs(n-before[i]) > max(50, before[i]/10) {
				t.Errorf("%s costs %v, before %v (calls, tokens written, read, of the longest answer): review it, and run go test ./rest/mcp -run TestTasks -update", name, now, before)
				break
			}
		}
	}
	if len(was) != len(want) {
		t.Errorf("%d rows, before %d: run go test ./rest/mcp -run TestTasks -update", len(was), len(want))
	}
}

// costs reads the rows of a table of costs: by name calls, and tokens written, read and of the longest answer.
func costs(table string) map[string][]int {
	out := map[string][]int{}
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		fields := strings.Fields(line)
		var row []int
		for _, f := range fields[max(0, len(fields)-4):] {
			n, _ := strconv.Atoi(f)
			row = append(row, n)
		}
		out[strings.Join(fields[:max(0, len(fields)-4)], " ")] = row
	}
	return out
}

func abs(n int) int { return max(n, -n) }

// BenchmarkTasks plays all tasks again and again, and reports calls and tokens.
func BenchmarkTasks(b *testing.B) {
	all := readTasks(b)
	var calls, total int
	for b.Loop() {
		p := office(b)
		for _, one := range all {
			for _, s := range one.steps {
				p.step(s)
			}
		}
		calls, total = p.calls, p.written+p.read
	}
	b.ReportMetric(float64(calls), "calls")
	b.ReportMetric(float64(total), "tokens")
}

package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/schema"
)

// load reads a model W of one file.
func load(t *testing.T, source string) *Model {
	t.Helper()
	ms, err := loadFile(t, source)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ms.Model("W")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func loadFile(t *testing.T, source string) (*Models, error) {
	t.Helper()
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return built(types, declare.Source{Name: "w.yaml", Text: source})
}

func built(types *schema.Registry, texts ...declare.Source) (*Models, error) {
	ms, wrong, err := Build(types, parse, texts)
	return ms, cmp.Or(err, declare.ErrorOf(wrong))
}

func parse(text string, bare bool) error {
	if bare && strings.HasPrefix(text, "(") {
		return fault.Invalid.Errorf("expression: never ends")
	}
	return nil
}

// walker is a host without documents: chains are noted, conditions are looked up, and tasks are open until end.
type walker struct {
	states map[string]*NodeState
	log    []string
	holds  func(n *Node, t *Transition) bool
}

func newWalker(holds func(n *Node, t *Transition) bool) *walker {
	return &walker{states: map[string]*NodeState{}, holds: holds}
}

func (w *walker) Node(id string) *NodeState {
	if w.states[id] == nil {
		w.states[id] = &NodeState{State: Ready}
	}
	return w.states[id]
}

func (w *walker) Begin(n *Node) (bool, error) {
	w.log = append(w.log, n.ID)
	w.Node(n.ID).Begun++
	return n.Task != nil, nil
}

func (w *walker) Finish(*Node) error                         { return nil }
func (w *walker) Holds(n *Node, t *Transition) (bool, error) { return w.holds(n, t), nil }
func (w *walker) Take(*Node, *Transition) error              { return nil }

func (w *walker) Cancel(n *Node) error {
	w.log = append(w.log, "-"+n.ID)
	return nil
}

func (w *walker) open(m *Model) (ids []string) {
	for _, n := range m.Nodes {
		if w.Node(n.ID).State == Suspended {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

const head = "workflows:\n  W:\n    nodes:\n"

func node(id, more string, to ...string) string {
	s := "      " + id + ": {" + more
	if len(to) > 0 {
		if more != "" {
			s += ", "
		}
		s += "transitions: {"
		for i, t := range to {
			if i > 0 {
				s += ", "
			}
			name, when, _ := strings.Cut(t, "?")
			s += fmt.Sprintf("t%d: {to: %s", i, name)
			if when != "" {
				s += ", when: " + when
			}
			s += "}"
		}
		s += "}"
	}
	return s + "}\n"
}

const task = "task: {assignees: [a], buttons: {ok: {}}}"

// TestWalk walks through graphs: nodes begin in the order of the log, "-" is before one whose tasks are cancelled.
// The steps are the nodes whose tasks are ended, one after the other; conditions hold unless they say no.
func TestWalk(t *testing.T) {
	fork := node("S", "start: true", "A", "B") + node("A", task, "M") + node("B", task, "M")
	for _, tc := range []struct{ name, graph, steps, log, err string }{
		{"straight", node("S", "start: true", "A") + node("A", task, "E") + node("E", "end: true"), "A", "S A E", ""},
		{"choice", node("S", "start: true", "A?no", "B") + node("A", task, "E") + node("B", task, "E") + node("E", "end: true"), "B", "S B E", ""},
		{"no way out", node("S", "start: true", "E?no") + node("E", "end: true"), "", "S", "conflict"},
		{"a circle", node("S", "start: true", "A") + node("A", "", "S", "E?no") + node("E", "end: true"), "", "", "limit"},
		{"merge of all", fork + node("M", "merge: all", "E") + node("E", "end: true"), "A B", "S A B M E", ""},
		{"merge of the first", fork + node("M", "merge: one", "E") + node("E", "end: true"), "B", "S A B -A M E", ""},
		{"no merge", fork + node("M", task, "E") + node("E", "end: true"), "A B M", "S A B M E", ""},
		{"the end ends all", node("S", "start: true", "A", "B") + node("A", task, "E") + node("B", task, "A") + node("E", "end: true"), "A", "S A B E -B", ""},
		{"one is missing for ever", node("S", "start: true", "A") + node("A", task, "M", "B?no") + node("B", "", "M") + node("M", "merge: all", "E") + node("E", "end: true"), "A", "S A", "conflict"},
		{"again and again", node("S", "start: true", "A") + node("A", task, "A", "E?no") + node("E", "end: true"), "A A", "S A A A", ""},
		{"not its turn", node("S", "start: true", "A") + node("A", task, "B") + node("B", task, "E") + node("E", "end: true"), "B", "S A", "conflict"},
		{"no such node", node("S", "start: true", "A") + node("A", task, "E") + node("E", "end: true"), "X", "S A", "notfound"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := load(t, head+tc.graph)
			w := newWalker(func(_ *Node, t *Transition) bool { return t.When.Text != "no" })
			_, err := m.Start(w, 50)
			for _, id := range strings.Fields(tc.steps) {
				if err == nil {
					_, err = m.Resume(w, id, 50)
				}
			}
			got := ""
			if err != nil {
				got = fault.Of(err).String()
			}
			if got != tc.err {
				t.Errorf("error %v, want kind %q", err, tc.err)
			}
			if got := strings.Join(w.log, " "); tc.log != "" && got != tc.log {
				t.Errorf("walk %s, want %s", got, tc.log)
			}
		})
	}
}

// TestWalkAny walks at random through random graphs. Whatever they look like, a walk ends the workflow, or leaves
// somebody with a task, or is an error; a merge of all begins no more often than each transition to it was taken.
func TestWalkAny(t *testing.T) {
	var ended, waiting, failed int
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the walks are to be the same each time
		m := randomModel(r)
		taken := map[string]int{} // how often a transition was
		w := newWalker(func(n *Node, tr *Transition) bool {
			holds := r.IntN(3) > 0
			if holds {
				taken[n.ID+"/"+tr.Name]++
			}
			return holds
		})
		check := &checked{walker: w, model: m, taken: taken, t: t}
		over, err := m.Start(check, 60)
		for steps := 0; err == nil && !over && steps < r.IntN(8); steps++ {
			open := w.open(m)
			if len(open) == 0 {
				t.Fatalf("seed %d: nobody has a task, and it has not ended", seed)
			}
			over, err = m.Resume(check, open[r.IntN(len(open))], 60)
		}
		switch {
		case err != nil:
			failed++
			if k := fault.Of(err); k != fault.Conflict && k != fault.Limit {
				t.Fatalf("seed %d: %v", seed, err)
			}
		case over:
			ended++
			if open := w.open(m); len(open) > 0 {
				t.Fatalf("seed %d: it has ended, and %v are open", seed, open)
			}
		default:
			waiting++
		}
	}
	if ended < 100 || waiting < 10 || failed < 100 {
		t.Errorf("%d ended, %d waiting, %d failed: the graphs are too much alike", ended, waiting, failed)
	}
}

// checked looks whether merges begin when they may.
type checked struct {
	*walker
	model *Model
	taken map[string]int
	t     *testing.T
}

func (c *checked) Begin(n *Node) (bool, error) {
	waits, err := c.walker.Begin(n)
	for _, o := range c.model.Nodes {
		for _, tr := range o.Transitions {
			if tr.To.Text == n.ID && n.Merge == MergeAll && !n.Start && c.Node(n.ID).Begun > c.taken[o.ID+"/"+tr.Name] {
				c.t.Fatalf("merge %s begins for the %dth time, and %s/%s was taken %d times", n.ID, c.Node(n.ID).Begun, o.ID, tr.Name, c.taken[o.ID+"/"+tr.Name])
			}
		}
	}
	return waits, err
}

// randomModel makes a graph of some nodes, the first of which is the start and the last the end.
func randomModel(r *rand.Rand) *Model {
	m := &Model{Name: "W", byID: map[string]*Node{}}
	count := 3 + r.IntN(6)
	for i := range count {
		n := &Node{ID: fmt.Sprint("n", i), Start: i == 0, End: i == count-1}
		n.Merge = []Merge{NoMerge, NoMerge, MergeOne, MergeAll}[r.IntN(4)]
		if i > 0 && !n.End && r.IntN(2) == 0 {
			n.Task = &TaskDef{}
		}
		m.Nodes, m.byID[n.ID] = append(m.Nodes, n), n
	}
	for i, n := range m.Nodes[:count-1] {
		to := []int{i + 1}
		for range r.IntN(3) {
			to = append(to, 1+r.IntN(count-1))
		}
		slices.Sort(to)
		for k, at := range slices.Compact(to) {
			n.Transitions = append(n.Transitions, &Transition{Name: fmt.Sprint("t", k), To: declare.Name{Text: m.Nodes[at].ID}})
		}
	}
	return m
}

// TestMistakes has everything told at once that is wrong with a file, each with its line and what was probably meant.
func TestMistakes(t *testing.T) {
	_, err := loadFile(t, `workflows:
  Broken:
    startOn: {types: [Fil], facets: [Versionabel], states: [projekt]}
    variables: {who: text, many: "string[]"}
    nodes:
      begin:
        start: true
        merge: some
        task:
          assignees: [alice]
          due: (
          grants: Reed
          asks: [manny]
        transitions:
          next: {to: ende, when: (}
          more: {}
      lost:
        titel: Lost
        transitions: {next: {to: end}}
      end: {end: true, variables: {many: string}, transitions: {on: {to: begin}}}
  Empty: {}
  Inner: {nodes: {a: {start: true, workflow: {name: Outer}, transitions: {on: {to: b}}}, b: {end: true}}}
  Outer: {nodes: {a: {start: true, workflow: {name: Inner}, transitions: {on: {to: b}}}, b: {end: true}}}
  Wrong: {nodes: {a: {start: true, workflow: {name: Inne}, transitions: {on: {to: b}}}, b: {end: true}}}
`)
	want := `w.yaml:3: workflow Broken: unknown type Fil, perhaps File
w.yaml:3: workflow Broken: unknown facet Versionabel, perhaps Versionable
w.yaml:3: workflow Broken: unknown state projekt, perhaps project
w.yaml:4: field who: unknown type "text"
w.yaml:6: node begin: merge: must be one or all
w.yaml:10: workflow Broken: node begin: a task must have assignees and buttons
w.yaml:11: expression: never ends
w.yaml:12: workflow Broken: node begin: unknown permission Reed, perhaps Read
w.yaml:13: workflow Broken: node begin: unknown variable manny, perhaps many
w.yaml:15: expression: never ends
w.yaml:15: workflow Broken: node begin: unknown node ende, perhaps end
w.yaml:16: workflow Broken: node begin: transition more: to is missing
w.yaml:17: workflow Broken: no transition leads to node lost
w.yaml:18: unknown key titel, perhaps title
w.yaml:20: workflow Broken: node end: an end node must have neither a task nor transitions
w.yaml:20: workflow Broken: node end: variable many is also declared for the workflow
w.yaml:20: workflow Broken: no transition leads to node end
w.yaml:21: workflow Empty: must have exactly 1 start node, not 0
w.yaml:21: workflow Empty: has no end node
w.yaml:22: workflow Inner: contains itself, through node a of Outer
w.yaml:23: workflow Outer: contains itself, through node a of Inner
w.yaml:24: workflow Wrong: node a: unknown workflow Inne, perhaps Inner`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestDefaults reads the models that every server has.
func TestDefaults(t *testing.T) {
	ms, err := loadFile(t, "workflows: {}")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range ms.All() {
		names = append(names, m.Name)
	}
	if got := strings.Join(names, " "); got != "ParallelDocumentReview SerialDocumentReview" {
		t.Errorf("models: %s", got)
	}
	fails := func(bad string) func(string) error {
		return func(name string) error {
			if name == bad {
				return errors.New("is bad")
			}
			return nil
		}
	}
	checks := Checks{Runs: fails(""), TakesDocs: fails("nextAssignee"), Expression: func(text string, _ bool) error { return fails("WorkflowVariables.index")(text) }}
	if err := declare.ErrorOf(ms.Check(checks)); err == nil || !strings.Contains(err.Error(), "node ") || !strings.Contains(err.Error(), "is bad") {
		t.Errorf("check: %v", err)
	}
}

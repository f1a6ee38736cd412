package workflow

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"catena/storage/fault"
)

// newInstance is one of the full model that has not begun.
func newInstance(t *testing.T) *Instance {
	t.Helper()
	m := load(t, full)
	return &Instance{Model: m, ModelName: m.Name, Variables: m.First(), nodes: map[string]*NodeState{}}
}

// TestVariables holds which values variables begin with and take, and what is said of those that do not fit.
func TestVariables(t *testing.T) {
	i := newInstance(t)
	if want := map[string]any{"count": int64(3), "names": []any{}, "kind": "a", "day": nil}; !reflect.DeepEqual(i.Variables, want) {
		t.Errorf("first: %v", i.Variables)
	}
	if err := i.Assign(map[string]any{"count": "12", "names": []any{"x"}, "unknown": 1, "kind": "b"}); err != nil {
		t.Fatal(err)
	}
	if i.Variables["count"] != int64(12) || i.Variables["kind"] != "b" || !reflect.DeepEqual(i.Variables["names"], []any{"x"}) || i.Variables["unknown"] != nil || len(i.Variables) != 4 {
		t.Errorf("assigned: %v", i.Variables)
	}
	if err := i.Assign(map[string]any{"names": nil, "count": nil}); err != nil || !reflect.DeepEqual(i.Variables["names"], []any{}) || i.Variables["count"] != nil {
		t.Errorf("taken away: %v %v", i.Variables, err)
	}
	for name, v := range map[string]any{"count": "many", "kind": "c", "day": "soon", "names": map[string]any{"a": 1}} {
		before := maps.Clone(i.Variables)
		if err := i.Assign(map[string]any{name: v}); fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), "variables") {
			t.Errorf("%s = %v: %v", name, v, err)
		}
		if !reflect.DeepEqual(before, i.Variables) {
			t.Errorf("%s = %v: has changed %v to %v", name, v, before, i.Variables)
		}
	}
	if err := (&Instance{}).Assign(map[string]any{"count": "many"}); err != nil {
		t.Errorf("a model that is declared no longer: %v", err)
	}
}

// TestFill holds that who ends a task sets variables of its node, and of the workflow only those that the task asks for.
func TestFill(t *testing.T) {
	i := newInstance(t)
	n, _ := i.Model.Node("begin")
	if err := i.Fill(n, map[string]any{"comment": "fine", "count": 9}, map[string]any{"kind": "b", "count": 9, "nope": 1}); err != nil {
		t.Fatal(err)
	}
	if i.Variables["kind"] != "b" || i.Variables["count"] != int64(3) || i.Node("begin").Variables["comment"] != "fine" || i.Node("begin").Variables["count"] != nil {
		t.Errorf("filled: %v %v", i.Variables, i.Node("begin").Variables)
	}
	if err := i.Fill(n, nil, map[string]any{"kind": "c"}); fault.Of(err) != fault.Invalid {
		t.Errorf("a wrong value: %v", err)
	}
	if err := i.Fill(n, map[string]any{"many": 5}, nil); err == nil && !reflect.DeepEqual(i.Node("begin").Variables["many"], []any{"5"}) {
		t.Errorf("one value for a list: %v", i.Node("begin").Variables)
	}
}

// TestNodeStates holds how nodes begin, how tasks are noted, and that what waits is given up once.
func TestNodeStates(t *testing.T) {
	i := newInstance(t)
	if i.Begun() || i.Title() != "wf.title" {
		t.Error("it has begun")
	}
	if n := i.Node("begin"); n.State != Ready || !reflect.DeepEqual(n.Variables, map[string]any{"comment": nil, "many": []any{}}) || n != i.Node("begin") || !i.Begun() {
		t.Errorf("begin: %+v", n)
	}
	i.Node("begin").Tasks = []TaskInfo{{ID: "t1"}, {ID: "t2"}}
	i.Node("begin").Note("t2", "ann", "yes", "ok")
	i.Node("begin").Note("t3", "bob", "no", "")
	want := []TaskInfo{{ID: "t1"}, {ID: "t2", Ended: true, Actor: "ann", Status: "yes", Comment: "ok"}}
	if !reflect.DeepEqual(i.Node("begin").Tasks, want) {
		t.Errorf("tasks: %+v", i.Node("begin").Tasks)
	}
	i.Node("begin").State, i.Node("inner").State, i.Node("join").State, i.Node("join").Arrived = Suspended, Suspended, Waiting, []string{"begin/yes"}
	var ended []string
	if err := i.EachWaiting(func(id string) error { ended = append(ended, id); return nil }); err != nil || !slices.Equal(ended, []string{"begin", "inner"}) {
		t.Errorf("ended %v, %v", ended, err)
	}
	for _, id := range []string{"begin", "inner", "join"} {
		if n := i.Node(id); n.State != Ready || n.Arrived != nil {
			t.Errorf("%s is %s, %v", id, n.State, n.Arrived)
		}
	}
	failed := errors.New("failed")
	i.Node("inner").State = Suspended
	if err := i.EachWaiting(func(string) error { return failed }); !errors.Is(err, failed) || i.Node("inner").State != Suspended {
		t.Errorf("%v, and inner is %s", err, i.Node("inner").State)
	}
}

// TestGraph holds where the nodes of a graph are drawn: by the shortest way from the start, one below the other.
func TestGraph(t *testing.T) {
	i := newInstance(t)
	i.Node("begin").State = Suspended
	text := func(key string) string { return "<" + key + ">" }
	g := i.Model.Graph(text, i)
	want := []GraphNode{
		{X: 40, Y: 40, ID: "begin", Title: "<wf.begin>", State: Suspended, IsStartNode: true, IsMultiTask: true},
		{X: 260, Y: 40, ID: "join", Title: "<join>", State: Ready, IsMerge: true},
		{X: 480, Y: 40, ID: "inner", Title: "<inner>", State: Ready, IsMerge: true, HasSubWorkflow: true},
		{X: 260, Y: 160, ID: "end", Title: "<End>", State: Ready, IsEndNode: true},
	}
	if !reflect.DeepEqual(g.Nodes, want) {
		t.Errorf("nodes: %+v", g.Nodes)
	}
	var lines []string
	for _, l := range g.Transitions {
		lines = append(lines, l.From+">"+l.To+l.Label)
	}
	if got := strings.Join(lines, " "); got != "begin>join<wf.yes> begin>end<no> join>inner<on> inner>end<on>" {
		t.Errorf("transitions: %s", got)
	}
	if alone := i.Model.Graph(text, nil); alone.Nodes[0].State != Ready {
		t.Errorf("the model alone: %+v", alone.Nodes[0])
	}
	circle := load(t, head+node("a", "start: true", "b")+node("b", "", "a", "e")+node("e", "end: true"))
	if c := circle.columns(); !maps.Equal(c, map[string]int{"a": 0, "b": 1, "e": 2}) {
		t.Errorf("a circle: %v", c)
	}
}

// TestWalkLimits holds that a walk of exactly the allowed steps goes through, and that errors of a host end it.
func TestWalkLimits(t *testing.T) {
	m := load(t, head+node("a", "start: true", "b")+node("b", "", "c")+node("c", "", "e")+node("e", "end: true"))
	always := func(*Node, *Transition) bool { return true }
	if over, err := m.Start(newWalker(always), 4); err != nil || !over {
		t.Errorf("4 steps: %v %v", over, err)
	}
	if _, err := m.Start(newWalker(always), 3); fault.Of(err) != fault.Limit || !strings.Contains(err.Error(), "workflow W: more than 3 steps without a task") {
		t.Errorf("3 steps: %v", err)
	}
	for _, at := range []string{"begin b", "finish b", "holds b", "take b"} {
		h := &failing{walker: newWalker(always), at: at}
		_, err := m.Start(h, 10)
		if !errors.Is(err, errHost) || strings.Contains(strings.Join(h.log, " "), "c") {
			t.Errorf("%s: %v after %v", at, err, h.log)
		}
		if at == "holds b" && !strings.Contains(err.Error(), "node b: transition t0") {
			t.Errorf("%s: %v", at, err)
		}
	}
}

var errHost = errors.New("the host fails")

// failing is a host that fails at one of its methods for a node.
type failing struct {
	*walker
	at string
}

func (f *failing) fails(what string, n *Node) error {
	if f.at == what+" "+n.ID {
		return errHost
	}
	return nil
}

func (f *failing) Begin(n *Node) (bool, error) {
	if err := f.fails("begin", n); err != nil {
		return false, err
	}
	return f.walker.Begin(n)
}

func (f *failing) Finish(n *Node) error                       { return f.fails("finish", n) }
func (f *failing) Holds(n *Node, _ *Transition) (bool, error) { return true, f.fails("holds", n) }
func (f *failing) Take(n *Node, _ *Transition) error          { return f.fails("take", n) }

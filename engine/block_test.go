package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
)

// blocks runs steps with variables and returns what they give and, after a bar, the variables that are left.
func blocks(t *testing.T, e *Engine, in any, vars map[string]any, steps ...Step) string {
	t.Helper()
	names := []string{}
	for name := range vars {
		names = append(names, name)
	}
	p, err := e.Set().Plan(steps, "", PlanOptions{Trusted: true, Vars: names})
	if err != nil {
		return "! " + fault.Of(err).String() + ": " + err.Error()
	}
	var left map[string]any
	res, err := e.RunPlan(context.Background(), p, Call{Input: in, Vars: vars, As: e.System(), Encode: func(c *Ctx, _ any) ([]byte, error) {
		left = c.Vars
		return nil, nil
	}})
	if err != nil {
		return "! " + fault.Of(err).String() + ": " + err.Error()
	}
	out := fmt.Sprint(res.Value)
	for _, name := range names {
		out += fmt.Sprintf("|%s=%v", name, left[name])
	}
	return out
}

func loop(value, item string, most int, steps ...Step) Step {
	return Step{Block: &Block{Kind: BlockEach, Value: value, Item: item, Most: most, Branches: []Branch{{Steps: steps}}}}
}

func branched(kind, value string, branches ...Branch) Step {
	return Step{Block: &Block{Kind: kind, Value: value, Branches: branches}}
}

func set(name, value string) Step {
	return Step{Op: "Test.SetVar", Params: map[string]any{"name": name, "value": value}}
}

func add(text string) Step { return Step{Op: "Test.Text", Params: map[string]any{"text": text}} }

// TestEach: the steps of a loop run once for each item, in order, and its variable is its own whatever becomes of it.
func TestEach(t *testing.T) {
	e := testEngine(t)
	fails := Step{Op: "Test.Fail", Params: map[string]any{"kind": "conflict"}, When: "x == 'b'"}
	tolerated := loop("input", "x", 0, fails, add("."))
	tolerated.OnError = &Handler{Continue: true}
	repeated := loop("input", "x", 0, fails, add("."))
	repeated.Retry, repeated.OnError = &Retry{Times: 3}, &Handler{Result: "expr:x"}
	for _, c := range []struct {
		name string
		in   any
		vars map[string]any
		step []Step
		want string
	}{
		{"of a list", []any{"a", "b"}, nil, []Step{loop("input", "x", 0, add("@{x}"))}, "[aa bb]"},
		{"of none", []any{}, nil, []Step{loop("input", "x", 0, add("@{x}"))}, "[]"},
		{"of an expression", "in", nil, []Step{loop("['p', 'q']", "x", 0, add("@{x}"))}, "[pp qq]"},
		{"of a range", "in", nil, []Step{loop("map(1..3, string(#))", "x", 0, add("-"))}, "[1- 2- 3-]"},
		{"of nothing", "in", nil, []Step{loop("nil", "x", 0, add("-"))}, "[]"},
		{"of a text", "in", nil, []Step{loop("'abc'", "x", 0, add("-"))}, "! invalid: step 1: each: must be a list, not string"},
		{"as many as may be", []any{"a", "b"}, nil, []Step{loop("input", "x", 2, add("-"))}, "[a- b-]"},
		{"more", []any{"a", "b", "c"}, nil, []Step{loop("input", "x", 2, add("-"))}, "! limit: step 1: each: more than 2 items; most raises the limit, and Bulk.RunAction has none"},
		{"variables go on", []any{"a", "b"}, map[string]any{"sum": "0"}, []Step{loop("input", "x", 0, set("sum", "expr:sum + x"))}, "[a b]|sum=0ab"},
		{"its variable is gone", []any{"a"}, map[string]any{"y": ""}, []Step{loop("input", "x", 0, add("-")), set("y", "expr:Context.x == nil ? 'gone' : 'there'")}, "[a-]|y=gone"},
		{"a variable of the name", []any{"a", "b"}, map[string]any{"x": "outer"}, []Step{loop("input", "x", 0, add("@{x}"))}, "[aa bb]|x=outer"},
		{"after a failure", []any{"a", "b"}, map[string]any{"x": "outer"}, []Step{tolerated}, "[a b]|x=outer"},
		{"after failures", []any{"a", "b"}, map[string]any{"x": "outer"}, []Step{repeated}, "outer|x=outer"},
		{"within another", []any{"a", "b"}, nil, []Step{loop("input", "x", 0, loop("['1', '2']", "y", 0, add("@{x}")))}, "[[1a 2a] [1b 2b]]"},
		{"within one of the same name", []any{"a"}, nil, []Step{loop("input", "x", 0, loop("['1']", "x", 0, add("@{x}")),
			Step{Op: "Test.SetVar", Params: map[string]any{"name": "z", "value": "expr:x"}})}, "[[11]]"},
		{"returns", []any{"a", "b", "c"}, nil, []Step{loop("input", "x", 0,
			branched(BlockIf, "x == 'b'", Branch{Name: "true", Steps: []Step{{Block: &Block{Kind: BlockReturn, Result: "expr:x + '!'"}}}}))}, "b!"},
	} {
		if got := blocks(t, e, c.in, c.vars, c.step...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestChoose: one branch runs, the one that is named as the value is written, or none.
func TestChoose(t *testing.T) {
	e := testEngine(t)
	cases := []Branch{{Name: "a", Steps: []Step{add("1")}}, {Name: "1", Steps: []Step{add("2")}}, {Name: "true", Steps: []Step{add("3")}}, {Name: "", Steps: []Step{add("4")}}, {Name: "a,b", Steps: []Step{add("5")}}}
	other := append(append([]Branch{}, cases...), Branch{Default: true, Steps: []Step{add("d")}})
	for _, c := range []struct {
		kind, value string
		branches    []Branch
		want        string
	}{
		{BlockSwitch, "'a'", cases, "x1"},
		{BlockSwitch, "1", cases, "x2"},
		{BlockSwitch, "1.0", cases, "x2"},
		{BlockSwitch, "2 > 1", cases, "x3"},
		{BlockSwitch, "nil", cases, "x4"},
		{BlockSwitch, "['a', 'b']", cases, "x5"},
		{BlockSwitch, "'A'", cases, "x"},
		{BlockSwitch, "'A'", other, "xd"},
		{BlockSwitch, "'a'", other, "x1"},
		{BlockSwitch, "'a' - 1", other, "!"},
		{BlockIf, "true", []Branch{{Name: "true", Steps: []Step{add("t")}}, {Default: true, Steps: []Step{add("e")}}}, "xt"},
		{BlockIf, "'true'", []Branch{{Name: "true", Steps: []Step{add("t")}}, {Default: true, Steps: []Step{add("e")}}}, "xt"},
		{BlockIf, "'yes'", []Branch{{Name: "true", Steps: []Step{add("t")}}, {Default: true, Steps: []Step{add("e")}}}, "xe"},
		{BlockIf, "nil", []Branch{{Name: "true", Steps: []Step{add("t")}}}, "x"},
	} {
		got := blocks(t, e, "x", nil, branched(c.kind, c.value, c.branches...))
		if c.want == "!" && !strings.HasPrefix(got, "! invalid: step 1: switch: ") || c.want != "!" && got != c.want {
			t.Errorf("%s %s: %s, want %s", c.kind, c.value, got, c.want)
		}
	}
}

// TestParallelBranches: the results are found by the names of the branches, variables of one are not those of another, and the
// first failure ends all.
func TestParallelBranches(t *testing.T) {
	e := testEngine(t)
	for _, c := range []struct {
		name     string
		branches []Branch
		want     string
	}{
		{"two", []Branch{{Name: "a", Steps: []Step{add("1")}}, {Name: "b", Steps: []Step{add("2")}}}, "map[a:x1 b:x2]|v=0"},
		{"variables", []Branch{{Name: "a", Steps: []Step{set("v", "1"), add("@{v}")}}, {Name: "b", Steps: []Step{add("@{v}")}}}, "map[a:x1 b:x0]|v=0"},
		{"nothing to do", []Branch{{Name: "a"}}, "map[a:x]|v=0"},
		{"a failure", []Branch{{Name: "a", Steps: []Step{add("1")}}, {Name: "b", Steps: []Step{{Op: "Test.Fail"}}}}, "! conflict: "},
		{"a panic", []Branch{{Name: "a", Steps: []Step{{Op: "Test.Fail", Params: map[string]any{"kind": "panic"}}}}}, "! internal: "},
	} {
		got := blocks(t, e, "x", map[string]any{"v": "0"}, Step{Block: &Block{Kind: BlockParallel, Branches: c.branches}})
		if strings.HasSuffix(c.want, ": ") && !strings.HasPrefix(got, c.want) || !strings.HasSuffix(c.want, ": ") && got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestRetryCounts: a step is tried as often as it says, only for reasons that may pass, and never after the call has ended.
func TestRetryCounts(t *testing.T) {
	e := testEngine(t)
	tries, failures := 0, 0
	kind := fault.Unavailable
	shaky := Op{Name: "Test.Shaky", Doc: "d", Callers: Anyone, Run: On(func(_ none, c *Ctx, _ Void) (Void, error) {
		if tries++; tries <= failures {
			return Void{}, kind.Errorf("try %d", tries)
		}
		return Void{}, nil
	})}
	if err := e.Swap(func(s *Set) (*Set, error) { return s.With([]Op{shaky}) }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind            fault.Kind
		failures, times int
		tries           int
		fails           bool
	}{
		{fault.Unavailable, 0, 3, 1, false},
		{fault.Unavailable, 2, 3, 3, false},
		{fault.Unavailable, 3, 3, 3, true},
		{fault.Conflict, 1, 2, 2, false},
		{fault.Invalid, 1, 3, 1, true},
		{fault.Denied, 1, 3, 1, true},
		{fault.Limit, 1, 3, 1, true},
		{fault.Internal, 1, 3, 1, true},
		{fault.Unavailable, 1, 1, 1, true},
	} {
		tries, failures, kind = 0, c.failures, c.kind
		got := blocks(t, e, nil, nil, Step{Op: "Test.Shaky", Retry: &Retry{Times: c.times}})
		if tries != c.tries || c.fails != strings.HasPrefix(got, "! "+c.kind.String()) {
			t.Errorf("%+v: %d tries, %s", c, tries, got)
		}
	}
	tries, failures, kind = 0, 9, fault.Unavailable
	p, err := e.Set().Plan([]Step{{Op: "Test.Shaky", Retry: &Retry{Times: MaxTries, Pause: time.Hour}}}, "", PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(errors.New("ended")) })
	if _, err := e.RunPlan(ctx, p, Call{As: e.System()}); err == nil || tries != 1 {
		t.Errorf("ended in a pause: %v after %d tries", err, tries)
	}
}

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"
)

// manyOps are enough operations that finding one by name counts.
func manyOps() []Op {
	ops := make([]Op, 300)
	for i := range ops {
		ops[i] = Op{Name: fmt.Sprintf("Test.Op%d", i), Doc: "d", Effect: Pure, Callers: Anyone, Run: On(benchParams.run)}
	}
	return ops
}

type benchParams struct {
	Type string `json:"type" doc:"A type."`
	Name string `json:"name" default:"Untitled" doc:"A name."`
	Save bool   `json:"save" default:"true" doc:"A switch."`
}

func (benchParams) run(_ *Ctx, in string) (string, error) { return in, nil }

func benchEngine(b testing.TB) *Engine {
	b.Helper()
	set, err := NewSet(testOps(), manyOps())
	if err != nil {
		b.Fatal(err)
	}
	return New(Config{Set: set})
}

func planOf(b testing.TB, s *Set, n int, step Step) *Plan {
	b.Helper()
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = step
	}
	p, err := s.Plan(steps, "string", PlanOptions{Trusted: true})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// within gives fn the context of a call under way.
func within(b testing.TB, e *Engine, fn func(c *Ctx)) {
	b.Helper()
	r := &running{e: e, set: e.Set(), def: &Def{Op: Op{Name: "Test"}}, call: &Call{As: &Principal{Name: "bob"}}, began: time.Now()}
	r.ctx = &Ctx{Context: context.Background(), As: r.call.As, Vars: map[string]any{}, run: r}
	fn(r.ctx)
}

func BenchmarkStep(b *testing.B) {
	benchSteps(b, Step{Op: "Test.Same"})
}

func BenchmarkCallTyped(b *testing.B) {
	benchSteps(b, Step{Op: "Test.Op7", Params: map[string]any{"type": "File", "name": "a", "save": false}})
}

// benchSteps measures one step of a plan.
func benchSteps(b *testing.B, step Step) {
	b.Helper()
	e := benchEngine(b)
	e.limits.Ops = 1 << 62
	p := planOf(b, e.Set(), 100, step)
	within(b, e, func(c *Ctx) {
		var in any = "text"
		b.ReportAllocs()
		for i := 0; i < b.N; i += 100 {
			if _, err := p.Run(c, in); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCallJSON(b *testing.B) {
	e := benchEngine(b)
	call := Call{
		Op: "Test.Op271", Input: "text", As: &Principal{Name: "bob"}, EntryPoint: REST,
		RawParams: json.RawMessage(`{"type": "File", "name": "report", "save": false}`),
	}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Run(ctx, call); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChain10(b *testing.B) {
	e := benchEngine(b)
	p := planOf(b, e.Set(), 10, Step{Op: "Test.Same"})
	call := Call{Op: "chain", Input: "text", As: &Principal{Name: "bob"}}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.RunPlan(ctx, p, call); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPlannedStepsAllocateNothing(t *testing.T) {
	e := benchEngine(t)
	e.limits.Ops = 1 << 62
	for _, step := range []Step{
		{Op: "Test.Same"},
		{Op: "Test.Nothing"},
		{Op: "Test.Op7", Params: map[string]any{"type": "File", "name": "a", "save": "false"}},
		{Op: "Test.Op7", Params: map[string]any{"type": "File"}},
	} {
		p := planOf(t, e.Set(), 10, step)
		within(t, e, func(c *Ctx) {
			var in any = "text"
			if n := testing.AllocsPerRun(100, func() {
				if _, err := p.Run(c, in); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s %v: %v allocations", step.Op, step.Params, n)
			}
		})
	}
}

// TestCallsLeaveNothing runs calls of several principals at once: none finds anything of another.
func TestCallsLeaveNothing(t *testing.T) {
	run := func(p setVarParams, c *Ctx, in string) (string, error) {
		if c.As.Name != in || len(c.Vars) != 0 || len(c.params) != 0 || c.Tx != nil || c.depth != 0 {
			t.Errorf("%s finds %s, %v, %v", in, c.As.Name, c.Vars, c.params)
		}
		c.SetVar(p.Name, p.Value)
		return in + p.Value.(string), nil
	}
	set, err := NewSet([]Op{{Name: "Test.Mine", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(run)}})
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Set: set})
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			name := fmt.Sprint("user", i)
			var kept []*Result
			for n := range 200 {
				res, err := e.Run(t.Context(), Call{
					Op: "Test.Mine", Input: name, As: &Principal{Name: name}, Trace: n%7 == 0,
					RawParams: json.RawMessage(fmt.Sprintf(`{"name":"n","value":"%d"}`, n)),
				})
				if err != nil {
					t.Error(err)
					return
				}
				kept = append(kept, res)
			}
			for n, res := range kept {
				if want := fmt.Sprint(name, n); res.Value != want || (res.Trace != nil) != (n%7 == 0) {
					t.Errorf("got %v, want %s", res.Value, want)
				}
			}
		})
	}
	wait.Wait()
}

// BenchmarkRun measures a call of an operation that does nothing: without anybody who is told, and with somebody who is told of
// no call.
func BenchmarkRun(b *testing.B) {
	for _, told := range []bool{false, true} {
		b.Run(fmt.Sprintf("told=%v", told), func(b *testing.B) {
			e := benchEngine(b)
			if told {
				e.SetSpans((&listened{deaf: true}).spans)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Run(b.Context(), Call{Op: "Test.Nothing", As: &Principal{Name: "bob"}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestCallsUsedAgain runs calls one after the other: one takes the place of another that has ended only if nothing can refer to that
// any longer.
func TestCallsUsedAgain(t *testing.T) {
	var now *Ctx
	op := func(name string, effect Effect, value any) Op {
		return Op{Name: name, Doc: "d", Effect: effect, Callers: Anyone, Run: On(func(_ none, c *Ctx, _ Void) (any, error) {
			now = c
			return value, nil
		})}
	}
	e := testEngine(t, op("Test.Reads", Reads, "x"), op("Test.File", Reads, NewBlob("f", "text/plain", []byte("f"))), op("Test.Writes", Writes, "x"))
	encode := func(*Ctx, any) ([]byte, error) { return nil, nil }
	for _, c := range []struct {
		call  Call
		again bool
	}{
		{Call{Op: "Test.Reads", Encode: encode}, true},
		{Call{Op: "Test.Reads"}, false},
		{Call{Op: "Test.File", Encode: encode}, false},
		{Call{Op: "Test.Writes", Encode: encode}, false},
	} {
		c.call.As = e.System()
		seen, again := map[*Ctx]bool{}, false
		for range 100 {
			if _, err := e.Run(t.Context(), c.call); err != nil {
				t.Fatal(err)
			}
			again = again || seen[now]
			seen[now] = true
		}
		if again != c.again {
			t.Errorf("%s, encoded: %v: used again: %v", c.call.Op, c.call.Encode != nil, again)
		}
	}
}

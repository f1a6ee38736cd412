package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"catena/storage/fault"
)

// MaxBranches is how many branches a parallel step has at most.
const MaxBranches = 16

// Outside runs f, which waits for something outside of the server and touches neither the context nor its transaction.
// Meanwhile the other branches of a parallel step go on: everything else that they do, they do by turns.
func (c *Ctx) Outside(f func() error) error {
	if c.turn == nil {
		return f()
	}
	c.turn.Unlock()
	defer c.turn.Lock()
	return f()
}

// branch is one branch of a parallel step that runs.
type branch struct {
	out      any
	err      error
	panicked any
}

// parallel runs the branches at the same time, each with the input of the step and with variables of its own, and returns
// what they give by their names. The first that fails ends the others.
func (bl *block) parallel(c *Ctx, in any) (any, error) {
	turn := c.turn
	if turn == nil {
		turn = new(sync.Mutex)
	}
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	ran := make([]branch, len(bl.branches))
	first := -1
	var wg sync.WaitGroup
	for i := range bl.branches {
		sub := c.Sub(true)
		sub.Context, sub.turn, sub.Input = ctx, turn, in
		wg.Go(func() {
			turn.Lock()
			defer turn.Unlock()
			b := &ran[i]
			defer func() {
				if p := recover(); p != nil {
					b.err, b.panicked = fault.Internal.Errorf("panic"), fmt.Sprintf("%v\n%s", p, debug.Stack())
				}
				sub.restore(0)
				if b.err != nil && first < 0 {
					first = i
					cancel()
				}
			}()
			if b.err = ctx.Err(); b.err == nil {
				b.out, b.err = runSteps(sub, bl.branches[i], in)
			}
		})
	}
	_ = c.Outside(func() error { wg.Wait(); return nil })
	if i := slices.IndexFunc(ran, func(b branch) bool { return b.panicked != nil }); i >= 0 {
		panic(ran[i].panicked)
	}
	if first >= 0 {
		return nil, fault.Wrap(ran[first].err, "%s", bl.Branches[first].Name)
	}
	out := make(map[string]any, len(ran))
	for i := range ran {
		out[bl.Branches[i].Name] = ran[i].out
	}
	return out, nil
}

// separate describes what a branch of a parallel step must not do: write, for the branches share one transaction, or end
// the chain, which the others are in.
func (b *planner) separate(st *step) {
	if len(st.Block.Branches) > MaxBranches {
		b.fail(&st.Step, st.n, BlockParallel, fault.Limit.Errorf("more than %d branches", MaxBranches))
	}
	for _, steps := range st.block.branches {
		everyStep(steps, func(inner *step) {
			switch {
			case inner.d == nil:
			case inner.block == nil && inner.effect() == Writes:
				b.fail(&inner.Step, inner.n, "", fault.Invalid.Errorf("writes, but the steps of parallel only read or call out"))
			case inner.block != nil && inner.block.Kind == BlockReturn:
				b.fail(&inner.Step, inner.n, "", fault.Invalid.Errorf("a branch of parallel must not end the chain; Data.Value gives a value"))
			}
		})
	}
}

// everyStep calls f with steps and with those within them.
func everyStep(steps []step, f func(*step)) {
	for i := range steps {
		f(&steps[i])
		if bl := steps[i].block; bl != nil {
			for _, inner := range bl.branches {
				everyStep(inner, f)
			}
		}
	}
}
